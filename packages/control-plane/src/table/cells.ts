import type { PodSpec } from "@windlass/kinds/builtin";
import { itemsAt, textAt } from "./fields.ts";

/** A condition, as those of most kinds are. */
interface Condition {
  readonly type?: string;
  readonly status?: string;
}

/** The status of the first condition of a type, or undefined where there is none. */
export function conditionStatus(conditions: readonly Condition[], type: string): string | undefined {
  const condition = conditions.find((each) => textAt(each, "type") === type);
  return condition === undefined ? undefined : textAt(condition, "status");
}

/** `orNone("")` is `<none>`. */
export function orNone(value: string): string {
  return value === "" ? "<none>" : value;
}

/** Names and images of a pod's containers, each joined with commas. */
export function containerCells(podSpec: PodSpec | undefined): [names: string, images: string] {
  const containers = itemsAt(podSpec, "containers");
  const join = (field: "image" | "name") => containers.map((container) => textAt(container, field)).join(",");
  return [join("name"), join("image")];
}
