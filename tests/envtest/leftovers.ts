import { readdirSync, readFileSync } from "node:fs";

/**
 * Everything that a run starts, directly or not, has this variable: a suite that fails or is cut
 * off leaves its servers behind, in process groups of their own and without a parent.
 */
export const runVariable = "WINDLASS_ENVTEST_RUN";

/**
 * The value for what the process `pid` starts: its id, and when it began, as ids are used again.
 */
export function runOf(pid: number): string | undefined {
  try {
    // What is before the last parenthesis may have any characters: it is the program's name.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
    return `${pid}-${fields?.[19]}`;
  } catch {
    return undefined;
  }
}

/**
 * Kills what runs have left behind: this one's, and those of runs whose process has ended.
 *
 * @returns the ids of the processes
 */
export function endLeftovers(): number[] {
  const own = runOf(process.pid);
  const ended: number[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const run = variableOf(pid);
    if (run === undefined || (run !== own && runOf(Number(run.split("-")[0])) === run)) continue;
    try {
      process.kill(pid, "SIGKILL");
      ended.push(pid);
    } catch (error) {
      // It has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  return ended;
}

/**
 * The run that a process belongs to; undefined for all others, and for those that have ended or
 * belong to others.
 */
function variableOf(pid: number): string | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return undefined;
  }
  const prefix = `${runVariable}=`;
  return environment
    .split("\0")
    .find((variable) => variable.startsWith(prefix))
    ?.slice(prefix.length);
}
