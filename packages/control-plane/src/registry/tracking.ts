import { type JsonObject, stringify, textOf } from "../json.ts";
import { normalize } from "../kinds/index.ts";
import { ConversionError, type WriteContext } from "../merge/index.ts";
import type { Registry } from "./registry.ts";
import type { Resource } from "./resource.ts";

/** What field tracking must know of a resource and of the endpoint written to. */
export type Tracking = Pick<
  WriteContext,
  "schema" | "apiVersion" | "subresource" | "resetFields" | "empty" | "convert" | "schemaFor"
>;

/** What became of conversions that had to be waited for. */
type Converted = Map<string, JsonObject | ConversionError>;

type Resources = Pick<Registry, "kinds" | "resourceFor">;

/**
 * Runs what merges or tracks fields. Managers may have written other versions of the object, which a webhook may have to make:
 * `work` is then run again with each that it lacked, and so must have no effects.
 */
export function withTracking<T>(
  resource: Resource,
  registry: Resources,
  subresource: string | undefined,
  work: (tracking: Tracking) => T,
): T | Promise<T> {
  const converted: Converted = new Map();
  const tracking = trackingOf(resource, registry, subresource, converted);
  try {
    return work(tracking);
  } catch (error) {
    if (!(error instanceof Lacking)) throw error;
    return resumed(error, converted, () => work(tracking));
  }
}

/** An object is needed in another version, and somebody must be asked for it first. */
class Lacking extends Error {
  readonly key: string;
  readonly coming: Promise<JsonObject | ConversionError>;

  constructor(key: string, coming: Promise<JsonObject | ConversionError>) {
    super("the object is not yet converted");
    this.key = key;
    this.coming = coming;
  }
}

async function resumed<T>(first: Lacking, converted: Converted, work: () => T): Promise<T> {
  for (let lacking = first; ; ) {
    converted.set(lacking.key, await lacking.coming);
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Lacking)) throw error;
      lacking = error;
    }
  }
}

function trackingOf(
  resource: Resource,
  registry: Resources,
  subresource: string | undefined,
  converted: Converted,
): Tracking {
  const { info } = resource;
  const inVersion = (apiVersion: string): Resource | undefined => {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    if (resource.inVersion) return group === info.group ? resource.inVersion(textOf(version)) : undefined;
    const found = registry.kinds.byKind(textOf(group), textOf(version), info.kind);
    const other = found && registry.resourceFor(found);
    return other?.bucket === resource.bucket ? other : undefined;
  };
  return {
    schema: resource.schema(),
    apiVersion: info.group === "" ? info.version : `${info.group}/${info.version}`,
    ...(subresource === undefined ? {} : { subresource }),
    resetFields: resetFields(resource, subresource),
    ...(info.origin === "builtin" ? { empty: emptyOf(resource) } : {}),
    convert: (object, apiVersion) => {
      const to = inVersion(apiVersion);
      if (to) return convertedTo(object, inVersion(textOf(object.apiVersion)), to, apiVersion, converted);
      // Of built-in kinds the one unknown version is passed over; a definition that lacks it loses all entries.
      if (info.origin === "custom") {
        throw new ConversionError(`request to convert CR to an invalid group/version: ${apiVersion}`);
      }
      return undefined;
    },
    schemaFor: (apiVersion) => inVersion(apiVersion)?.schema(),
  };
}

function convertedTo(
  object: JsonObject,
  from: Resource | undefined,
  to: Resource,
  apiVersion: string,
  converted: Converted,
): JsonObject {
  if (!from?.conversion && !to.conversion) return { ...object, apiVersion };
  const key = `${apiVersion} ${stringify(object)}`;
  const known = converted.get(key);
  if (known instanceof ConversionError) throw known;
  if (known) return known;
  const made = to.conversion?.fromAny?.([object]) ?? byStorage(object, from, to);
  if (!(made instanceof Promise)) return made[0] as JsonObject;
  throw new Lacking(
    key,
    made.then(
      ([one]) => one as JsonObject,
      (error: unknown) => new ConversionError(error instanceof Error ? error.message : String(error)),
    ),
  );
}

function byStorage(
  object: JsonObject,
  from: Resource | undefined,
  to: Resource,
): readonly JsonObject[] | Promise<readonly JsonObject[]> {
  const stored = from?.conversion ? from.conversion.toStorage([object]) : [object];
  return stored instanceof Promise ? stored.then((objects) => shown(to, objects)) : shown(to, stored);
}

function shown(
  { conversion }: Resource,
  stored: readonly JsonObject[],
): readonly JsonObject[] | Promise<JsonObject[]> {
  return conversion ? conversion.fromStorage(stored) : stored;
}

/** The main endpoint does not write the status, nor the status endpoint the spec. */
function resetFields(resource: Resource, subresource: string | undefined): string[][] {
  if (subresource === "status" && resource.bucket === "deployments.apps")
    return [["spec"], ["metadata", "labels"]];
  if (subresource === "status" && resource.bucket === "pods")
    return [["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]];
  if (subresource === "status") return [["spec"]];
  return resource.hasStatus ? [["status"]] : [];
}

const empties = new WeakMap<Resource, JsonObject>();

function emptyOf(resource: Resource): JsonObject {
  let empty = empties.get(resource);
  if (!empty) {
    const { group, version, kind } = resource.info;
    empty = normalize(resource.info, {
      apiVersion: group === "" ? version : `${group}/${version}`,
      kind,
      metadata: {},
    });
    empties.set(resource, empty);
  }
  return empty;
}
