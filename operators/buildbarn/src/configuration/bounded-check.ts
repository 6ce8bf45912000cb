import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Checked, Configuration } from "./check.ts";
import { type CheckTask, programUrl } from "./check-task.ts";

/** What the check of one configuration may use. */
export interface CheckLimits {
  /** Of the processor: on a busy machine the same text is valid, only later. @default 3_000 */
  readonly milliseconds?: number;
  /** @default 32 */
  readonly megabytes?: number;
}

/**
 * A machine on which a process does not come to its end in this time does not show what it was
 * given.
 */
const LONGEST_MS = 60_000;
/** The most that a configuration may evaluate to. What is in a ConfigMap is smaller. */
const LARGEST_ANSWER = 16 * 1024 * 1024;

/**
 * Checks a configuration that users have written a part of, in a process of its own: text that
 * takes all of the time or the memory there is takes it from no other resource. A thread would not
 * do, for one that asks for too much memory at once takes its process with it.
 */
export async function checkBounded(
  configuration: Configuration,
  { milliseconds = 3_000, megabytes = 32 }: CheckLimits = {},
): Promise<Checked> {
  const task: CheckTask = { configuration, milliseconds, megabytes };
  const { promise, resolve, reject } = Promise.withResolvers<Checked>();
  const child = execFile(
    process.execPath,
    [fileURLToPath(programUrl("check-process-main"))],
    // Nothing of the environment is any business of the text that is evaluated.
    { env: {}, timeout: LONGEST_MS, killSignal: "SIGKILL", maxBuffer: LARGEST_ANSWER },
    (error, answer) => {
      if (!error) resolve(JSON.parse(answer) as Checked);
      else if (error.signal === "SIGABRT" || error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
        resolve({
          is: "invalid",
          faults: [`${configuration.entry}: takes more than ${megabytes} MiB of memory to evaluate`],
        });
      else reject(error);
    },
  );
  // If it is gone before it has read all, its exit shows why.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(JSON.stringify(task));
  return await promise;
}
