import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { type CheckTask, programUrl } from "./configuration/check-task.ts";
import type { Checked } from "./configuration/index.ts";

const LOOK_MS = 50;

/**
 * Checks the one configuration on its standard input, and writes the result to its standard
 * output. A thread evaluates it, so that the time that takes can be watched. What takes more memory
 * than there may be ends the thread or, where it asks for too much at once, the process.
 */
const { configuration, milliseconds, megabytes } = JSON.parse(await text(process.stdin)) as CheckTask;
const { entry } = configuration;
const worker = new Worker(programUrl("check-thread-main"), {
  workerData: configuration,
  resourceLimits: { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: 16 },
});
const { promise, resolve, reject } = Promise.withResolvers<Checked>();
const refuse = (fault: string) => resolve({ is: "invalid", faults: [`${entry}: ${fault}`] });
const look = async () => {
  const { user, system } = await worker.cpuUsage();
  if ((user + system) / 1_000 > milliseconds) refuse(`takes more than ${milliseconds} ms to evaluate`);
};
// A thread that has ended has answered, or its exit shows that it has not.
const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
worker.on("message", resolve);
worker.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
    refuse(`takes more than ${megabytes} MiB of memory to evaluate`);
  else reject(error);
});
worker.on("exit", (code) => reject(new Error(`the check of ${entry} ended with ${code} and no answer`)));
const checked = await promise;
clearInterval(timer);
process.stdout.write(JSON.stringify(checked), () => process.exit(0));
