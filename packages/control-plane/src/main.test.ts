import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer as createHttps, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@windlass/certificates";
import { load } from "js-yaml";
import { afterEach, beforeEach, expect, test } from "vitest";

const command = join(import.meta.dirname, "..", "bin", "windlass-control-plane.js");
let folder: string;
const running = new Set<ChildProcess>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "command-"));
});
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
  rmSync(folder, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(...args: string[]): { child: ChildProcess; ready: Promise<string>; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let output = "";
  const ended = new Promise<Ended>((resolve) => {
    child.once("exit", (code) => resolve({ code, output }));
  });
  const ready = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        const line = /^ready in \d+ ms$/m.exec(output);
        if (line) resolve(line[0]);
      });
    }
    void ended.then((how) => reject(new Error(`ended with ${how.code}: ${how.output}`)));
  });
  ready.catch(() => undefined);
  return { child, ready, ended };
}

/** Where a kubeconfig leads, and as whom. */
function identityIn(kubeconfig: string) {
  const config = load(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
    users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
  };
  const cluster = config.clusters[0]?.cluster;
  const user = config.users[0]?.user;
  if (!cluster || !user) throw new Error("the kubeconfig is empty");
  const decode = (text: string) => Buffer.from(text, "base64");
  return {
    url: cluster.server,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  };
}

/** A client by kubeconfig. Resolves to the object that was answered. */
function client(kubeconfig: string) {
  const { url, ...identity } = identityIn(kubeconfig);
  const agent = new Agent({ keepAlive: true, ...identity });
  return (method: string, path: string, body?: object): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path, url),
        { method, agent, headers: { "content-type": "application/json" } },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
          incoming.on("error", reject);
          incoming.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as Answered));
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body && JSON.stringify(body));
    });
}

/** The first that a GET answers, as it comes. */
function firstBytes(kubeconfig: string, path: string): Promise<string> {
  const { url, ...identity } = identityIn(kubeconfig);
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, url), { ...identity }, (incoming) => {
      incoming.once("data", (chunk: Buffer) => {
        resolve(chunk.toString());
        outgoing.destroy();
      });
      incoming.once("error", reject);
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

interface Answered {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly items?: readonly Answered[];
}

const maps = "/api/v1/namespaces/default/configmaps";

test("a killed server comes back with all it has acknowledged, under the same kubeconfig", async () => {
  const kubeconfig = join(folder, "kubeconfig");
  const args = ["--kubeconfig", kubeconfig, "--data", join(folder, "data"), "--controllers", "none"];
  const first = run(...args);
  await first.ready;
  const send = client(kubeconfig);
  const acknowledged: Answered[] = [];
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; ; i++) {
      acknowledged.push(await send("POST", maps, { metadata: { name: `w${writer}-${i}` } }));
      if (acknowledged.length === 40) first.child.kill("SIGKILL");
    }
  });
  await Promise.allSettled(writers);
  const second = run(...args.with(1, join(folder, "another")));
  await second.ready;
  const list = await client(kubeconfig)("GET", maps);
  const found = new Map(list.items?.map(({ metadata }) => [metadata.name, metadata]));
  for (const { metadata } of acknowledged) {
    const { uid, resourceVersion } = metadata;
    expect(found.get(metadata.name)).toMatchObject({ uid, resourceVersion });
  }
  const latest = Math.max(...acknowledged.map(({ metadata }) => Number(metadata.resourceVersion)));
  expect(Number(list.metadata.resourceVersion)).toBeGreaterThan(latest);
  second.child.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
}, 30_000);

test("a kind whose rules are in CEL is served again after a restart, with its rules", async () => {
  const flags = ["--data", join(folder, "data"), "--kubeconfig", join(folder, "kubeconfig")];
  const first = run(...flags);
  await first.ready;
  const rule = { rule: "self.size < 10", message: "too large" };
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { size: { type: "integer" } },
        required: ["size"],
        "x-kubernetes-validations": [rule],
      },
    },
  };
  const defined = await client(join(folder, "kubeconfig"))(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      metadata: { name: "ruled.example.com" },
      spec: {
        group: "example.com",
        scope: "Cluster",
        names: { plural: "ruled", kind: "Ruled" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  );
  expect(defined.metadata.name).toBe("ruled.example.com");
  first.child.kill("SIGKILL");
  await first.ended;
  const second = run(...flags);
  await second.ready;
  const send = client(join(folder, "kubeconfig"));
  const make = (size: number) =>
    send("POST", "/apis/example.com/v1/ruled", {
      apiVersion: "example.com/v1",
      kind: "Ruled",
      metadata: { name: `of-size-${size}` },
      spec: { size },
    });
  expect(await make(9)).toMatchObject({ kind: "Ruled", metadata: { name: "of-size-9" } });
  expect(await make(10)).toMatchObject({ kind: "Status", reason: "Invalid" });
});

test.each([
  [["--kubeconfig", "x", "--port", "http"], "--port must be a number from 0 to 65535"],
  [["--kubeconfig", "x", "--nonsense"], "Unknown option '--nonsense'"],
  [["--port", "1"], "--kubeconfig FILE is needed"],
  [["--kubeconfig", "x", "--controllers", "deployment,nonsense"], "--controllers: there is no"],
  [["--kubeconfig", "x", "--host="], "--host must not be empty"],
])(
  "bad usage is explained: %j",
  async (args, message) => {
    const { code, output } = await run(...args).ended;
    expect(code).toBe(2);
    expect(output).toContain(message);
    expect(output).toContain("Usage: windlass-control-plane");
  },
  15_000,
);

test.runIf(process.platform === "linux")(
  "a kubeconfig that cannot be written is named",
  async () => {
    const { code, output } = await run("--kubeconfig", "/dev/full", "--controllers", "none").ended;
    expect({ code, output }).toEqual({
      code: 1,
      output:
        "windlass-control-plane: --kubeconfig: /dev/full could not be written: no space is left on the disk\n",
    });
  },
  15_000,
);

test("a port that is taken is named", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, "127.0.0.1", resolve);
  });
  const { port } = taken.address() as { port: number };
  const args = ["--kubeconfig", join(folder, "k"), "--port", `${port}`, "--controllers", "none"];
  const { code, output } = await run(...args).ended;
  taken.close();
  expect(code).toBe(1);
  expect(output).toContain(`port ${port} is in use: choose another with --port`);
}, 15_000);

test("files that cannot be written are reported before anything is started", async () => {
  const nowhere = join(folder, "none");
  const noFolder = await run("--kubeconfig", join(nowhere, "kubeconfig")).ended;
  expect(noFolder.output).toBe(
    `windlass-control-plane: --kubeconfig: there is no folder ${nowhere}: make it, or name a file elsewhere\n`,
  );
  const isFolder = await run("--kubeconfig", join(folder, "kubeconfig"), "--data", folder).ended;
  expect(isFolder.output).toBe(`windlass-control-plane: --data: ${folder} is a folder: name a file\n`);
  expect([noFolder.code, isFolder.code]).toEqual([1, 1]);
  expect(readdirSync(folder)).toEqual([]);
}, 15_000);

test("says where it listens, and what to do to use it", async () => {
  const kubeconfig = join(folder, "kubeconfig");
  const server = run("--kubeconfig", kubeconfig, "--controllers", "none");
  await server.ready;
  server.child.kill("SIGINT");
  const { code, output } = await server.ended;
  expect(code).toBe(0);
  expect(output).toContain(`at ${identityIn(kubeconfig).url}: export KUBECONFIG=${kubeconfig}\n`);
}, 15_000);

test("images are given programs, and invalid values are explained", async () => {
  const kubeconfig = join(folder, "kubeconfig");
  const server = run("--kubeconfig", kubeconfig, "--image", "shop:*=/bin/echo at your service");
  await server.ready;
  const send = client(kubeconfig);
  const container = { name: "main", image: "shop:1", args: ["and", "more"] };
  await send("POST", "/api/v1/namespaces/default/pods", {
    metadata: { name: "shop" },
    spec: { restartPolicy: "Never", containers: [container] },
  });
  const path = "/api/v1/namespaces/default/pods?watch=true&fieldSelector=status.phase%3DSucceeded";
  await firstBytes(kubeconfig, path);
  expect(await firstBytes(kubeconfig, "/api/v1/namespaces/default/pods/shop/log")).toBe(
    "at your service and more\n",
  );
  const wrong = await run("--kubeconfig", kubeconfig, "--image", "shop").ended;
  expect(wrong.code).toBe(2);
  expect(wrong.output).toContain('--image must be NAME=COMMAND, not "shop"');
}, 15_000);

test("webhooks' Services are where they are said to be, on as many nodes as are asked for", async () => {
  const kubeconfig = join(folder, "kubeconfig");
  const asked: string[] = [];
  const authority = createAuthority({ commonName: "hook", validFor: 3_600_000 });
  const { certificate: cert, key } = authority.issue({
    commonName: "hook",
    dnsNames: ["hook.default.svc"],
    usages: ["server"],
    validFor: 3_600_000,
  });
  const hook = createHttps({ cert, key }, (request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => {
    hook.listen(0, "127.0.0.1", resolve);
  });
  const { port } = hook.address() as { port: number };
  const service = `default/hook:8443=https://127.0.0.1:${port}`;
  const server = run("--kubeconfig", kubeconfig, "--nodes", "3", "--service", service);
  await server.ready;
  const send = client(kubeconfig);
  expect((await send("GET", "/api/v1/nodes")).items?.map(({ metadata }) => metadata.name)).toEqual(
    [1, 2, 3].map((number) => `windlass-node-${number}`),
  );
  const clientConfig = {
    service: { namespace: "default", name: "hook", port: 8443, path: "/check" },
    caBundle: Buffer.from(authority.certificate).toString("base64"),
  };
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
  const review = {
    name: "a.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig,
    rules,
  };
  const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  await send("POST", configurations, { metadata: { name: "a" }, webhooks: [review] });
  await send("POST", maps, { metadata: { name: "looked-at" } });
  hook.close();
  expect(asked.map((line) => line.replace(/\?.*/, ""))).toContain("hook.default.svc:8443 /check");
  const wrong = await run("--kubeconfig", kubeconfig, "--service", "hook=https://x").ended;
  expect(wrong.output).toContain('--service must be NAMESPACE/NAME:PORT=URL, not "hook=https://x"');
  const none = await run("--kubeconfig", kubeconfig, "--nodes", "0").ended;
  expect(none.output).toContain('--nodes must be a number from 1 to 9999, not "0"');
}, 15_000);

test("help is printed to those who ask", async () => {
  const { code, output } = await run("--help").ended;
  expect(code).toBe(0);
  expect(output).toMatch(/^Usage: windlass-control-plane --kubeconfig FILE/);
}, 15_000);
