import { isDeepStrictEqual } from "node:util";
import type { KubernetesObject } from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";
import type { Resource } from "./define-resource.ts";

/**
 * The fields that do not survive a conversion to a version and back: empty when nothing is lost.
 * The property that every conversion owes its users.
 *
 * @example
 * expect(lostInRoundTrip(WebApp, WebApp.make("web", { image: "nginx:1.29" }), "v2")).toEqual([]);
 */
export function lostInRoundTrip(resource: Resource, object: KubernetesObject, via: string): string[] {
  const home = object.apiVersion?.split("/").at(-1) ?? "";
  const back = resource.convert(resource.convert(object, via), home);
  return differences(JSON.parse(JSON.stringify(object)), JSON.parse(JSON.stringify(back)), "");
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) {
    return [`${path.slice(1)}: ${shown(before)} became ${shown(after)}`];
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    differences(
      Object.hasOwn(before, name) ? before[name] : undefined,
      Object.hasOwn(after, name) ? after[name] : undefined,
      `${path}.${name}`,
    ),
  );
}

function shown(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}
