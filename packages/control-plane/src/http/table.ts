import type { Clock } from "@windlass/clock";
import { finish } from "../steps.ts";
import type { TableMaker } from "./read.ts";

/** Tables as `kubectl get` prints them. Their code is loaded by the first one asked for. */
export function table(clock: Clock): TableMaker {
  return async (resource, objects, { listMetadata, includeObject, version, columns = "all" }) => {
    const { toTable } = await import("../table/index.ts");
    const rows = toTable(resource.info, objects, {
      includeObject: includeObject as "None" | "Metadata" | "Object",
      now: clock.now(),
      listMetadata,
      columns,
      version,
    });
    return await finish(rows);
  };
}
