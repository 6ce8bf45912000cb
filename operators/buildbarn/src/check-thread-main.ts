import { parentPort, workerData } from "node:worker_threads";
import { type Configuration, checkConfiguration } from "./configuration/check.ts";

/** Checks one configuration, reports the result, and ends. */
parentPort?.postMessage(checkConfiguration(workerData as Configuration));
