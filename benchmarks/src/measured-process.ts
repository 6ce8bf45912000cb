import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";

/** A server in a process of its own, whose CPU and memory are measured from outside. */
export interface MeasuredProcess {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

/** What some work cost a process, in seconds of CPU, and how long it took, in seconds. */
export async function cpuOf(
  { pid }: MeasuredProcess,
  work: () => Promise<unknown>,
): Promise<{ readonly cpu: number; readonly wall: number }> {
  const [cpu, wall] = [cpuSeconds(pid), performance.now()];
  await work();
  return { cpu: cpuSeconds(pid) - cpu, wall: (performance.now() - wall) / 1_000 };
}

/** Resident memory in bytes, once it has stopped changing. */
export async function settledMemory({ pid }: MeasuredProcess): Promise<number> {
  for (let last = -1; ; ) {
    const found = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;
    if (Math.abs(found - last) < 100_000) return found;
    last = found;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Of all threads of a process, by the scheduler's count of nanoseconds. */
function cpuSeconds(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e9;
}
