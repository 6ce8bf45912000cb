import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Build } from "./environment.ts";

/** How buildctl reaches a daemon, and proves itself there. */
export interface BuildTarget {
  /** Such as `tcp://198.18.0.7:1234`. */
  readonly address: string;
  readonly serverName: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly trust: string;
  /** Of the pod that builds. */
  readonly podIp: string;
}

/** Where the step of a build listens that runs until the test ends it. */
const STEP_PORT = 18_080;
const STARTED_WITHIN_MS = 30_000;

const dockerfile = (round: number) => `FROM scratch
COPY agnhost /agnhost
ENV ROUND=${round}
RUN ["/agnhost", "netexec", "--http-port=${STEP_PORT}", "--udp-port=-1"]
`;

/**
 * A build by the real buildctl, whose last step runs until the test ends it. Steps have the
 * network of their worker's pod, so the step can be called.
 */
export async function startRealBuild(target: BuildTarget): Promise<Build> {
  const folder = await mkdtemp(join(tmpdir(), "buildkit-build-"));
  const agnhost = execFileSync("sh", ["-c", "command -v agnhost"], { encoding: "utf8" }).trim();
  await copyFile(agnhost, join(folder, "agnhost"));
  await writeFile(join(folder, "Dockerfile"), dockerfile(Date.now()));
  const files = { cert: target.certificate, key: target.key, ca: target.trust };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, `${name}.pem`), text, { mode: 0o600 });
  const tls = [
    `--tlsservername=${target.serverName}`,
    `--tlscacert=${folder}/ca.pem`,
    `--tlscert=${folder}/cert.pem`,
    `--tlskey=${folder}/key.pem`,
  ];
  const args = [
    "build",
    "--frontend=dockerfile.v0",
    `--local=context=${folder}`,
    `--local=dockerfile=${folder}`,
  ];
  const process = spawn("buildctl", [`--addr=${target.address}`, ...tls, ...args, "--progress=plain"]);
  const output = outputOf(process);
  const ended = once(process, "close").then(([code]) => {
    if (code !== 0) throw new Error(`buildctl ended with ${code}:\n${output()}`);
  });
  // The caller that ends the build gets the error.
  ended.catch(() => undefined);
  await Promise.race([
    answering(target.podIp),
    ended.then(() => Promise.reject(new Error("it ended at once"))),
  ]);
  return {
    end: async () => {
      try {
        await fetch(`http://${target.podIp}:${STEP_PORT}/exit?code=0&wait=0s`).catch(() => undefined);
        await ended;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function outputOf(process: ChildProcess): () => string {
  let text = "";
  for (const stream of [process.stdout, process.stderr])
    stream?.on("data", (chunk: Buffer) => (text += chunk));
  return () => text.slice(-4_000);
}

async function answering(ip: string): Promise<void> {
  const end = Date.now() + STARTED_WITHIN_MS;
  for (;;) {
    try {
      await fetch(`http://${ip}:${STEP_PORT}/`, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
