import { parentPort, workerData } from "node:worker_threads";
import { type Configuration, checkConfiguration } from "./configuration/check.ts";

/** Checks one configuration, says what came of it, and ends. */
parentPort?.postMessage(checkConfiguration(workerData as Configuration));
