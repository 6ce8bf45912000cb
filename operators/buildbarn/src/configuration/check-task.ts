import type { Configuration } from "./check.ts";

/** What a process that checks a configuration is given. */
export interface CheckTask {
  readonly configuration: Configuration;
  readonly milliseconds: number;
  readonly megabytes: number;
}

/**
 * Where another program of the operator is: above this folder, or in an image beside the file that
 * all of this one's modules are in.
 */
export function programUrl(name: "check-process-main" | "check-thread-main"): URL {
  const path = import.meta.url.endsWith(".ts") ? `../${name}.ts` : `./${name}.js`;
  return new URL(path, import.meta.url);
}
