export { BuildQueue, type Queue, type QueueSeen, type WorkerPod } from "./build-queue.ts";
