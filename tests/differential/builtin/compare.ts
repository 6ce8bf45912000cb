import { equal, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import type { Played } from "./play.ts";

export interface Difference {
  readonly story: string;
  readonly step: number;
  readonly request: Played["request"];
  /** Where the answers part, with both sides. */
  readonly differs: readonly string[];
}

/**
 * How the answer of the embedded server differs from the real one's, ids, times and allocated
 * numbers aside.
 */
export function compare(story: string, step: number, real: Played, ours: Played): Difference | undefined {
  const differs: string[] = [];
  const given = JSON.stringify(real.request.body);
  if (real.answer.status !== ours.answer.status) {
    differs.push(`status: real ${real.answer.status}, ours ${ours.answer.status}`);
  }
  walk(settle(real.answer.body, given, ""), settle(ours.answer.body, given, ""), "", differs);
  if (!equal([...real.answer.warnings].sort(), [...ours.answer.warnings].sort())) {
    differs.push(
      `warnings: real ${show([...real.answer.warnings])}, ours ${show([...ours.answer.warnings])}`,
    );
  }
  return differs.length === 0 ? undefined : { story, step, request: real.request, differs };
}

const volatile = new Set([
  "creationTimestamp",
  "deletionTimestamp",
  "lastPhaseTransitionTime",
  "lastTransitionTime",
  "time",
]);

/** Times and addresses that stories name themselves lie in years and blocks of their own. */
const ownTime = /^202[0-4]-/;
const ownAddress = /10\.96\.(?!20[01]\.(?:[1-4]|77)\b)\d+\.\d+/g;

/** The value with all that must differ between two servers made the same. */
function settle(value: Json, given: string, key: string): Json {
  if (Array.isArray(value)) {
    const settled = value.map((item) => settle(item, given, key));
    // Managers stand in the order of their times, which are each server's own.
    return key === "causes" || key === "managedFields" ? unordered(settled) : settled;
  }
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, settle(item, given, name)]),
    ) as JsonObject;
  }
  if (typeof value === "number") {
    // Where the API server itself listens, which default/kubernetes routes to.
    if (key === "targetPort" && (value === 6443 || value >= 32_768)) return "<port>";
    return key === "nodePort" || key === "healthCheckNodePort"
      ? given.includes(String(value))
        ? value
        : "<port>"
      : value;
  }
  if (typeof value !== "string") return value;
  if (key === "resourceVersion") return "<version>";
  if (volatile.has(key) && !ownTime.test(value)) return "<time>";
  return (
    value
      .replace(key === "message" ? / is invalid: \[[\s\S]*$/ : "", "")
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
      // A template is shown whole, in Go's own notation.
      .replace(
        /Invalid value: \{("labels"|"metadata"|"spec").*\}: field is immutable/g,
        "Invalid value: <template>: field is immutable",
      )
      .replace(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access-<suffix>")
      .replace(/gen-[a-z0-9]{5}/g, "gen-<suffix>")
      .replace(ownAddress, "<ip>")
      // The real server prints a Go diff after some messages.
      .replace(/\n[\s\S]*$/, "<more>")
  );
}

/**
 * The real server goes through maps in no order, and lists some faults twice. The message is made
 * of them.
 */
function unordered(causes: readonly Json[]): Json[] {
  const texts = new Set(causes.map((cause) => JSON.stringify(cause)));
  return [...texts].sort().map((text) => JSON.parse(text) as Json);
}

function walk(real: Json | undefined, ours: Json | undefined, path: string, differs: string[]): void {
  if (equal(real, ours)) return;
  if (isObject(real) && isObject(ours)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
      walk(real[key], ours[key], path === "" ? key : `${path}.${key}`, differs);
    }
    return;
  }
  if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length) {
    for (const [index, item] of real.entries()) walk(item, ours[index], `${path}[${index}]`, differs);
    return;
  }
  differs.push(`${path}: real ${show(real)}, ours ${show(ours)}`);
}

function show(value: Json | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
