import { readFileSync } from "node:fs";
import type { JsonObject } from "../json.ts";

/**
 * Bodies as Kubernetes' own Go library encodes them, in base64, with the JSON it makes of them
 * again.
 */
export const golden = JSON.parse(
  readFileSync(new URL("./messages-golden.json", import.meta.url), "utf8"),
) as [encoded: string, object: JsonObject & { apiVersion: string; kind: string }][];
