import { execFile, execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@windlass/client";
import { ConfigMap, EndpointSlice, Pod, Service, ServiceAccount } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { build } from "rolldown";
import { lab } from "../scripts/image.ts";
import { apiName } from "../src/index.ts";
import type { LabOperator } from "./lab-operator.ts";

const image = "windlass/buildkit-client:lab-test";
const root = join(import.meta.dirname, "..", "..", "..");

/** How a command in the pod ended. */
export interface Ran {
  readonly code: number;
  /** What it printed, and complained of. */
  readonly output: string;
}

/**
 * A CI job's pod: the command line client, buildctl and buildx, and of credentials a
 * ServiceAccount's token alone. It knows the API and the pools' gateways by their names.
 */
export class ClientPod {
  readonly #key: { readonly namespace: string; readonly name: string };

  private constructor(namespace: string) {
    this.#key = { namespace, name: "ci-job" };
  }

  static async start(operator: LabOperator, namespace: string): Promise<ClientPod> {
    await makeClientImage();
    await publishApi(operator);
    const { client } = operator;
    const pod = new ClientPod(namespace);
    await client.apply(ServiceAccount, { metadata: { namespace, name: "ci" } }, { fieldManager: "test" });
    await client.create(ConfigMap, {
      metadata: { namespace, name: "api-trust" },
      data: { "ca.crt": operator.ca },
    });
    await pod.#create(client, operator.namespace);
    return pod;
  }

  /** Runs a command in the pod. */
  run(...command: readonly string[]): Promise<Ran> {
    const { namespace, name } = this.#key;
    return new Promise((resolve) => {
      execFile(
        "kubectl",
        ["exec", "-n", namespace, name, "--", ...command],
        { maxBuffer: 64 << 20 },
        (error, stdout, stderr) => {
          resolve({ code: error ? Number(error.code ?? 1) : 0, output: `${stdout}${stderr}` });
        },
      );
    });
  }

  /** Runs a shell script in the pod. */
  shell(script: string): Promise<Ran> {
    return this.run("/bin/busybox", "sh", "-c", script);
  }

  /** Runs the command line client. */
  cli(...args: readonly string[]): Promise<Ran> {
    return this.run("node", "/app/main.js", ...args);
  }

  async #create(client: Client, operatorNamespace: string): Promise<void> {
    const token = { audience: "buildkit-controller", expirationSeconds: 7_200, path: "token" };
    await client.create(Pod, {
      metadata: this.#key,
      spec: {
        serviceAccountName: "ci",
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "job",
            image,
            imagePullPolicy: "Never",
            command: ["/bin/busybox", "sleep", "100000"],
            env: [
              { name: "BKCTL_ENDPOINT", value: `https://${apiName}.${operatorNamespace}.svc:8082` },
              { name: "BKCTL_TLS_CA_CERT", value: "/etc/api-trust/ca.crt" },
              { name: "HOME", value: "/tmp" },
            ],
            resources: { requests: { cpu: "10m", memory: "64Mi" } },
            volumeMounts: [
              { name: "token", mountPath: "/var/run/secrets/buildkit" },
              { name: "trust", mountPath: "/etc/api-trust" },
            ],
          },
        ],
        volumes: [
          { name: "token", projected: { sources: [{ serviceAccountToken: token }] } },
          { name: "trust", configMap: { name: "api-trust" } },
        ],
      },
    });
    await waitForCondition(client, Pod, this.#key, "Ready", "True", { timeout: 120_000 });
  }
}

async function makeClientImage(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "buildkit-client-"));
  try {
    await build({
      input: join(root, "operators", "buildkit", "src", "cli", "main.ts"),
      platform: "node",
      output: { file: join(folder, "main.js"), format: "esm", codeSplitting: false },
      logLevel: "warn",
    });
    await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
    await chmod(folder, 0o755);
    const found = (name: string) =>
      execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    const node = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");
    const adding = [
      `${node}:/usr/bin/node`,
      `${folder}:/app`,
      `${found("buildctl")}:/usr/bin/buildctl`,
      `${found("buildx")}:/usr/bin/buildx`,
    ].flatMap((one) => ["--add", one]);
    const packages = ["--debian", "libstdc++6,ca-certificates,busybox-static"];
    execFileSync(lab, ["image", image, ...packages, ...adding, "--user", "65532:65532"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Has the API's Service lead to the replicas, which run on this machine. */
async function publishApi({ client, namespace, endpoints }: LabOperator): Promise<void> {
  const ports = [{ name: "api", port: 8082, protocol: "TCP" as const }];
  await client.create(Service, { metadata: { namespace, name: apiName }, spec: { ports } });
  for (const [index, { host, port }] of endpoints.entries())
    await client.create(EndpointSlice, {
      metadata: {
        namespace,
        name: `${apiName}-${index}`,
        labels: { "kubernetes.io/service-name": apiName },
      },
      addressType: "IPv4",
      ports: [{ name: "api", port, protocol: "TCP" }],
      endpoints: [{ addresses: [host], conditions: { ready: true } }],
    });
}
