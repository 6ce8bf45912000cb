import type { Configuration } from "./check.ts";

/** What a process that checks a configuration is given. */
export interface CheckTask {
  readonly configuration: Configuration;
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** Where the code of another entry is: a file beside the one that asks, also in a bundle. */
export function siblingUrl(name: string, beside: string): URL {
  return new URL(`./${name}.${beside.endsWith(".ts") ? "ts" : "js"}`, beside);
}
