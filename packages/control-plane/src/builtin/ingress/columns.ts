import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt, valueAt } from "../../json-fields.ts";
import { shown } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { balancerAddresses } from "../service/columns.ts";

export function ingressCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("<none>", of, "spec", "ingressClassName"),
    hosts(listAt(of, "spec", "rules")),
    balancerAddresses(of).join(","),
    listAt(of, "spec", "tls").length === 0 ? "80" : "80, 443",
    age(of, now),
  ];
}

function hosts(rules: readonly Json[]): string {
  const most = 3;
  const named = rules.map((rule) => textAt(rule, "host"));
  const shownHosts: string[] = [];
  let more = false;
  for (const host of named) {
    if (shownHosts.length === most) more = true;
    else if (host !== "") shownHosts.push(host);
  }
  if (shownHosts.length === 0) return "*";
  return shownHosts.join(",") + (more ? ` + ${rules.length - most} more...` : "");
}

export function ingressClassCells(of: JsonObject, now: number): Json[] {
  const parameters = valueAt(of, "spec", "parameters");
  const group = shown("", parameters, "apiGroup");
  const reference = `${textAt(parameters, "kind")}${group === "" ? "" : `.${group}`}/${textAt(parameters, "name")}`;
  return [
    name(of),
    textAt(of, "spec", "controller"),
    parameters === undefined ? "<none>" : reference,
    age(of, now),
  ];
}
