import { type LocatedField, type LocatedJson, plain } from "../../jsonnet/index.ts";
import { compareProperties, type PlatformProperty } from "../platform-order.ts";
import type { Program, Version } from "../versions.ts";
import type { Fault } from "./check.ts";

/** Where probes ask whether a program is well. */
export interface Expected {
  readonly program: Program;
  readonly version: Version;
  readonly diagnosticsPort: number;
}

/**
 * What a program would take and not work with: it would end without a word, never be ready, or
 * never get work.
 */
export function checkMeaning(
  json: LocatedJson,
  { program, version, diagnosticsPort }: Expected,
): readonly Fault[] {
  if (json.kind !== "object" || json.fields.size === 0)
    return [{ at: json.at, path: "", fault: "is empty: the program would end at once" }];
  return [
    ...diagnostics(json, diagnosticsPort),
    ...(program === "bb_storage" ? newBlocks(json) : []),
    ...(program === "bb_scheduler" ? sizeClasses(json, version) : []),
    ...(program === "bb_worker" ? platforms(json) : []),
  ];
}

function diagnostics(json: LocatedJson, port: number): readonly Fault[] {
  const servers = listAt(json, "global", "diagnosticsHttpServer", "httpServers");
  const addresses = servers.flatMap((server) => listAt(server, "listenAddresses"));
  const isThere = (address: LocatedJson) =>
    address.kind === "scalar" && String(address.value).endsWith(`:${port}`);
  if (addresses.some(isThere)) return [];
  const { at } = fieldAt(json, "global") ?? json;
  const fault = `must listen on :${port}, where the probes ask`;
  return [{ at, path: "global.diagnosticsHttpServer.httpServers", fault }];
}

function newBlocks(json: LocatedJson): readonly Fault[] {
  return ["actionCache", "initialSizeClassCache", "fileSystemAccessCache"].flatMap((store) => {
    const field = fieldAt(json, store, "backend", "local", "newBlocks");
    if (!field || Number(plain(field.value)) === 1) return [];
    return [{ at: field.at, path: `${store}.backend.local.newBlocks`, fault: "must be 1" }];
  });
}

/** A scheduler does not start with a queue of no size class, or of several out of order. */
function sizeClasses(json: LocatedJson, version: Version): readonly Fault[] {
  return listAt(json, "predeclaredPlatformQueues").flatMap((queue, index) => {
    const field = fieldAt(queue, "sizeClasses");
    const path = `predeclaredPlatformQueues[${index}].sizeClasses`;
    const classes = listAt(queue, "sizeClasses").map((one) => Number(plain(one)));
    const fault = sizeClassesFault(classes, version);
    return fault === undefined ? [] : [{ at: field?.at ?? queue.at, path, fault }];
  });
}

function sizeClassesFault(classes: readonly number[], version: Version): string | undefined {
  if (classes.length === 0) return "must have at least one entry";
  if (classes.some((one, index) => index > 0 && one <= (classes[index - 1] ?? 0)))
    return "must be in ascending order, without repetition";
  // That of February 2025 takes 0 beside others.
  if (version === "2025-02") return undefined;
  return classes.length > 1 && classes[0] === 0 ? "must all be above 0 if there are several" : undefined;
}

function platforms(json: LocatedJson): readonly Fault[] {
  const runners = listAt(json, "buildDirectories").flatMap((directory) => listAt(directory, "runners"));
  return runners.flatMap((runner) => {
    const properties = listAt(runner, "platform", "properties").map(propertyOf);
    const isSorted = properties.every((property, index) => {
      const before = properties[index - 1];
      return before === undefined || compareProperties(before, property) < 0;
    });
    if (isSorted) return [];
    const { at } = fieldAt(runner, "platform", "properties") ?? runner;
    const fault = "must be sorted by name and value, without repetition, or the worker never gets work";
    return [{ at, path: "buildDirectories.runners.platform.properties", fault }];
  });
}

function propertyOf(property: LocatedJson): PlatformProperty {
  const text = (name: string) => {
    const value = fieldAt(property, name)?.value;
    // What is no text is refused by its type.
    return value?.kind === "scalar" && typeof value.value === "string" ? value.value : "";
  };
  return { name: text("name"), value: text("value") };
}

function fieldAt(json: LocatedJson, ...path: readonly string[]): LocatedField | undefined {
  let found: LocatedField | undefined;
  let at: LocatedJson | undefined = json;
  for (const name of path) {
    found = at?.kind === "object" ? at.fields.get(name) : undefined;
    at = found?.value;
  }
  return found;
}

function listAt(json: LocatedJson, ...path: readonly string[]): readonly LocatedJson[] {
  const value = fieldAt(json, ...path)?.value;
  return value?.kind === "array" ? value.items : [];
}
