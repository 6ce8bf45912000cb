import { Agent, request } from "node:https";
import { load } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";

let plane: ControlPlane;
let server: string;
let agent: Agent;

beforeAll(async () => {
  plane = await ControlPlane.start({ controllers: "none", nodes: "none" });
  server = await plane.listen();
  const config = load(await plane.kubeconfig()) as { users: [{ user: Record<string, string> }] };
  const { user } = config.users[0];
  const decode = (name: string) => Buffer.from(user[name] ?? "", "base64");
  agent = new Agent({
    rejectUnauthorized: false,
    cert: decode("client-certificate-data"),
    key: decode("client-key-data"),
  });
});
afterAll(async () => {
  agent.destroy();
  await plane.close();
});

/**
 * Creates a ConfigMap with a field that there is not.
 *
 * @returns the status and the warnings, as text
 */
async function createWith(
  field: string,
): Promise<{ status: number | undefined; warning: string | undefined }> {
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      `${server}/api/v1/namespaces/default/configmaps?dryRun=All`,
      { method: "POST", agent, headers: { "content-type": "application/json" } },
      (incoming) => {
        incoming.resume();
        const { warning } = incoming.headers;
        const text =
          warning === undefined ? undefined : Buffer.from(String(warning), "latin1").toString("utf8");
        resolve({ status: incoming.statusCode, warning: text });
      },
    );
    outgoing.once("error", reject);
    outgoing.end(JSON.stringify({ metadata: { name: "a" }, [field]: 1 }));
  });
}

test("a warning quotes whatever the client sent, as UTF-8", async () => {
  expect(await createWith("💥é")).toEqual({ status: 201, warning: '299 - "unknown field \\"💥é\\""' });
});

test("an impersonated user is in each of the groups of the headers, and has each of their extras", async () => {
  const text = await new Promise<string>((resolve, reject) => {
    const outgoing = request(
      `${server}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      {
        method: "POST",
        agent,
        headers: {
          "content-type": "application/json",
          "impersonate-user": "jane",
          "impersonate-group": ["devs", "ops, really"],
          "impersonate-extra-acme%2fscopes": ["a", "b"],
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () => resolve(Buffer.concat(chunks).toString()));
      },
    );
    outgoing.once("error", reject);
    outgoing.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }));
  });
  expect(JSON.parse(text)).toMatchObject({
    status: {
      userInfo: {
        username: "jane",
        groups: ["devs", "ops, really", "system:authenticated"],
        extra: { "acme/scopes": ["a", "b"] },
      },
    },
  });
});
