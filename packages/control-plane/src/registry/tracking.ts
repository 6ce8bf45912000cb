import { apiVersionOf } from "@windlass/kinds";
import { type JsonObject, stringify, textOf } from "../json.ts";
import type { KindInfo, KindTable } from "../kinds/index.ts";
import { ConversionError, type WriteContext } from "../merge/index.ts";
import type { Resource } from "./resource.ts";

/** What field tracking must know of a resource and of the endpoint written to. */
export type Tracking = Pick<
  WriteContext,
  "schema" | "apiVersion" | "subresource" | "resetFields" | "empty" | "convert" | "schemaFor"
>;

/** Where the other versions of a resource are found: the registry. */
interface Resources {
  readonly kinds: Pick<KindTable, "byKind">;
  resourceFor(info: KindInfo): Resource;
}

/** What field tracking must know of a resource, written through an endpoint of it. */
export function trackingOf(
  resource: Resource,
  registry: Resources,
  subresource: string | undefined,
): Tracking {
  const { info } = resource;
  // Managers of one version have the same object converted: a webhook is asked for it once in a
  // write.
  const asked = new Map<string, Promise<JsonObject>>();
  const inVersion = (apiVersion: string): Resource | undefined => {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    if (resource.inVersion) return group === info.group ? resource.inVersion(textOf(version)) : undefined;
    const found = registry.kinds.byKind(textOf(group), textOf(version), info.kind);
    const other = found && registry.resourceFor(found);
    return other?.bucket === resource.bucket ? other : undefined;
  };
  return {
    schema: resource.schema(),
    apiVersion: apiVersionOf(info),
    ...(subresource === undefined ? {} : { subresource }),
    resetFields: resetFields(resource, subresource),
    ...(resource.empty ? { empty: resource.empty() } : {}),
    convert: (object, apiVersion) => {
      const to = inVersion(apiVersion);
      if (to) return convertedTo(object, inVersion(textOf(object.apiVersion)), to, apiVersion, asked);
      // For built-in kinds the entry of the unknown version is skipped; for custom kinds it is an
      // error, and all entries are dropped.
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
  asked: Map<string, Promise<JsonObject>>,
): JsonObject | Promise<JsonObject> {
  if (!from?.conversion && !to.conversion) return { ...object, apiVersion };
  const question = `${apiVersion} ${stringify(object)}`;
  const known = asked.get(question);
  if (known) return known;
  const converted = to.conversion?.fromAny?.([object]) ?? byStorage(object, from, to);
  if (!(converted instanceof Promise)) return converted[0] as JsonObject;
  const answer = converted.then(
    ([one]) => one as JsonObject,
    (error: unknown) => {
      throw new ConversionError(error instanceof Error ? error.message : String(error), { cause: error });
    },
  );
  asked.set(question, answer);
  return answer;
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
