import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Client } from "@windlass/client";
import { Service } from "@windlass/runtime/kinds";
import type { Allocated } from "./lab-operator.ts";

/** How a build ended. */
export interface BuildEnd {
  /** Null if it was killed. */
  readonly code: number | null;
  /** What the client printed. */
  readonly output: string;
  readonly ms: number;
}

/** A build that a client has begun. */
export interface RunningBuild {
  readonly process: ChildProcess;
  /** What the client has printed up to now. */
  output(): string;
  /** Resolves when the client has ended, however it did. */
  readonly ended: Promise<BuildEnd>;
}

/** What is built, and by what. */
export interface BuildInit {
  /** @default "buildctl" */
  readonly tool?: "buildctl" | "buildx";
  /** Lines after `FROM scratch` and the shell. */
  readonly steps: readonly string[];
  /** Other files of the context, by name. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Besides what every build has. */
  readonly args?: readonly string[];
}

/** Where a pool's gateway is reached from this machine. */
export async function gatewayAddress(client: Client, pool: Allocated["pool"]): Promise<string> {
  const { spec } = await client.get(Service, pool);
  return `tcp://${spec?.clusterIP}:${spec?.ports?.[0]?.port}`;
}

/** The name that the certificate of a pool's gateway is for. */
export function gatewayServerName({ namespace, name }: Allocated["pool"]): string {
  return `${name}.${namespace}.svc`;
}

/** The layer of the image that the cluster has: busybox, and the libraries that it needs. */
function busyboxLayer(): string {
  const assets = dirname(execFileSync("sh", ["-c", "command -v agnhost"], { encoding: "utf8" }).trim());
  return join(assets, "..", "images", "busybox-layer.tar");
}

/** Certificates in files, as both clients want them. Gone with `remove`. */
export async function writeCredentials(folder: string, { ca, certificate, key }: Allocated): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries({ "ca.crt": ca, "tls.crt": certificate, "tls.key": key }))
    await writeFile(join(folder, name), text, { mode: 0o600 });
}

/** Begins a build through a pool's gateway. */
export async function startBuild(
  client: Client,
  allocated: Allocated,
  { tool = "buildctl", steps, files = {}, args = [] }: BuildInit,
): Promise<RunningBuild> {
  const address = await gatewayAddress(client, allocated.pool);
  const name = gatewayServerName(allocated.pool);
  const folder = await mkdtemp(join(tmpdir(), "buildkit-build-"));
  const context = join(folder, "context");
  const tls = join(folder, "tls");
  await mkdir(context);
  await writeCredentials(tls, allocated);
  await copyFile(busyboxLayer(), join(context, "busybox.tar"));
  const shell = ["FROM scratch", "ADD busybox.tar /", 'SHELL ["/bin/busybox", "sh", "-c"]'];
  await writeFile(join(context, "Dockerfile"), `${[...shell, ...steps].join("\n")}\n`);
  for (const [file, content] of Object.entries(files)) await writeFile(join(context, file), content);
  const startedAt = performance.now();
  const child =
    tool === "buildctl"
      ? spawn("buildctl", [
          `--addr=${address}`,
          `--tlsservername=${name}`,
          `--tlsdir=${tls}`,
          "build",
          "--frontend=dockerfile.v0",
          "--progress=plain",
          `--local=context=${context}`,
          `--local=dockerfile=${context}`,
          ...args,
        ])
      : spawnBuildx({ folder, tls, context, address, name, args });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk;
    });
  const ended = (async () => {
    const [code] = (await once(child, "close")) as [number | null];
    const ms = performance.now() - startedAt;
    await rm(folder, { recursive: true, force: true });
    return { code, output: text, ms };
  })();
  return { process: child, output: () => text, ended };
}

/** Builds through a pool's gateway. */
export async function build(client: Client, allocated: Allocated, init: BuildInit): Promise<BuildEnd> {
  return await (await startBuild(client, allocated, init)).ended;
}

interface BuildxInit {
  readonly folder: string;
  readonly tls: string;
  readonly context: string;
  readonly address: string;
  readonly name: string;
  readonly args: readonly string[];
}

function spawnBuildx({ folder, tls, context, address, name, args }: BuildxInit): ChildProcess {
  const env = {
    ...process.env,
    BUILDX_CONFIG: join(folder, "buildx"),
    DOCKER_CONFIG: join(folder, "docker"),
  };
  const files = `cacert=${tls}/ca.crt,cert=${tls}/tls.crt,key=${tls}/tls.key,servername=${name}`;
  execFileSync("buildx", ["create", "--name", "lab", "--driver", "remote", "--driver-opt", files, address], {
    env,
    stdio: "ignore",
  });
  return spawn("buildx", ["build", "--builder", "lab", "--progress=plain", ...args, context], { env });
}
