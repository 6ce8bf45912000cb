import type { Json, JsonObject } from "../../json.ts";
import { at, list, shown, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { balancerAddresses } from "../service/columns.ts";

export function ingressCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("<none>", of, "spec", "ingressClassName"),
    hosts(list(of, "spec", "rules")),
    balancerAddresses(of).join(","),
    list(of, "spec", "tls").length === 0 ? "80" : "80, 443",
    age(of, now),
  ];
}

function hosts(rules: readonly Json[]): string {
  const most = 3;
  const named = rules.map((rule) => text(rule, "host"));
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
  const parameters = at(of, "spec", "parameters");
  const group = shown("", parameters, "apiGroup");
  const reference = `${text(parameters, "kind")}${group === "" ? "" : `.${group}`}/${text(parameters, "name")}`;
  return [
    name(of),
    text(of, "spec", "controller"),
    parameters === undefined ? "<none>" : reference,
    age(of, now),
  ];
}
