import type { Ingress, IngressClass } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { itemsAt, lengthAt, partAt, shown, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { balancerAddresses } from "../service/columns.ts";

export function ingressCells(of: Ingress, now: number): Json[] {
  return [
    name(of),
    shown("<none>", of, "spec", "ingressClassName"),
    hosts(itemsAt(of, "spec", "rules").map((rule) => textAt(rule, "host"))),
    balancerAddresses(of).join(","),
    lengthAt(of, "spec", "tls") === 0 ? "80" : "80, 443",
    age(of, now),
  ];
}

/** @param named the host of each rule; empty where it has none */
function hosts(named: readonly string[]): string {
  const most = 3;
  const shownHosts: string[] = [];
  let more = false;
  for (const host of named) {
    if (shownHosts.length === most) more = true;
    else if (host !== "") shownHosts.push(host);
  }
  if (shownHosts.length === 0) return "*";
  return shownHosts.join(",") + (more ? ` + ${named.length - most} more...` : "");
}

export function ingressClassCells(of: IngressClass, now: number): Json[] {
  const parameters = partAt(of, "spec", "parameters");
  const group = shown("", parameters, "apiGroup");
  const reference = `${textAt(parameters, "kind")}${group === "" ? "" : `.${group}`}/${textAt(parameters, "name")}`;
  return [
    name(of),
    textAt(of, "spec", "controller"),
    parameters === undefined ? "<none>" : reference,
    age(of, now),
  ];
}
