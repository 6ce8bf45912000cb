import type { ServiceCIDR } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { textsAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function serviceCidrCells(of: ServiceCIDR, now: number): Json[] {
  return [name(of), textsAt(of, "spec", "cidrs").join(","), age(of, now)];
}
