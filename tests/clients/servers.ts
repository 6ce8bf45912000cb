import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { keepResult } from "./result.ts";

/** An API server to use a client on. */
export interface TestServer {
  /** A file that names the server and an administrator's credentials. */
  readonly kubeconfig: string;
  /** An empty folder that goes when the client is done. */
  readonly folder: string;
}

/**
 * Uses the embedded control plane, with all its controllers, and then the cluster of KUBECONFIG, if
 * it is set: what the client saw of both must read the same, line by line.
 *
 * @param use gives what the client printed, without what differs from one run to the next
 * @param checks how many checks the client made in the last use, where it makes some of its own
 */
export async function onServers(
  client: string,
  use: (place: TestServer) => Promise<string>,
  checks?: () => number,
): Promise<void> {
  const started = Date.now();
  const embedded = await onEmbedded(use);
  const lines = embedded.trimEnd().split("\n").length;
  const took = `${lines} lines in ${Date.now() - started} ms`;
  const { KUBECONFIG: kubeconfig } = process.env;
  if (kubeconfig === undefined) {
    process.stdout.write(`${embedded}${client}: ${took}\n`);
    return;
  }
  const real = await inFolder((folder) => use({ kubeconfig, folder }));
  const differences = compareLines(embedded, real);
  process.stdout.write(
    `${differences}${client}: ${took}, ${differences === "" ? "the same" : "not the same"} on the real server\n`,
  );
  const result = { lines, sameOnReal: differences === "" };
  await keepResult(client, checks === undefined ? result : { ...result, checks: checks() });
  if (differences !== "") process.exitCode = 1;
}

async function onEmbedded(use: (place: TestServer) => Promise<string>): Promise<string> {
  await using plane = await ControlPlane.start();
  // A real cluster's beginnings are long forgotten when a client comes.
  plane.compact();
  const kubeconfig = await plane.kubeconfig();
  return await inFolder(async (folder) => {
    const file = join(folder, "kubeconfig");
    await writeFile(file, kubeconfig);
    return await use({ kubeconfig: file, folder });
  });
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "clients-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The lines that one has and the other has not, in place. Empty where they agree. */
export function compareLines(embedded: string, real: string): string {
  const [ours, theirs] = [embedded.split("\n"), real.split("\n")];
  const report: string[] = [];
  for (let index = 0; index < Math.max(ours.length, theirs.length); index++) {
    if (ours[index] === theirs[index]) continue;
    report.push(`  embedded: ${ours[index] ?? "(nothing)"}\n  real:     ${theirs[index] ?? "(nothing)"}\n`);
  }
  return report.join("");
}
