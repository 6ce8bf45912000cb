import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { JsonObject } from "../json.ts";

test("admission sees who connects to a pod, and for what, and may refuse it", async () => {
  await using plane = await ControlPlane.start({ controllers: "none" });
  const seen: JsonObject[] = [];
  plane.bindService("default", "hook", 443, ({ body }) => {
    const review = JSON.parse(body) as JsonObject & { request: JsonObject };
    seen.push(review.request);
    const response = { uid: review.request.uid, allowed: false, status: { message: "no shells" } };
    return { body: JSON.stringify({ kind: review.kind, apiVersion: review.apiVersion, response }) };
  });
  const send = async (path: string, body: object = {}) => {
    const headers = { "content-type": "application/json" };
    const response = await plane
      .connect()
      .request({ method: "POST", path, headers, body: JSON.stringify(body) });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
  };
  await send("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "hook" },
    webhooks: [
      {
        name: "hook.example.com",
        clientConfig: { service: { namespace: "default", name: "hook" } },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods/*"], operations: ["CONNECT"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  const pod = "/api/v1/namespaces/default/pods/p";
  expect(await send(`${pod}/exec?command=ls&command=-l&container=c&stdout=true&tty=1`)).toMatchObject({
    code: 400,
    message: 'admission webhook "hook.example.com" denied the request: no shells',
  });
  await send(`${pod}/portforward?ports=80`);
  expect(seen).toMatchObject([
    {
      operation: "CONNECT",
      subResource: "exec",
      kind: { kind: "PodExecOptions" },
      object: {
        kind: "PodExecOptions",
        apiVersion: "v1",
        stdout: true,
        tty: true,
        container: "c",
        command: ["ls", "-l"],
      },
      oldObject: null,
      options: null,
    },
    { subResource: "portforward", object: { kind: "PodPortForwardOptions", ports: [80] } },
  ]);
});
