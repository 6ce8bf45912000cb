import { type JsonObject, textOf } from "../json.ts";
import { normalize } from "../kinds/index.ts";
import { ConversionError, type WriteContext } from "../merge/index.ts";
import type { Registry } from "./registry.ts";
import type { Resource } from "./resource.ts";

/** What field tracking must know of a resource and of the endpoint written to. */
export function trackingOf(
  resource: Resource,
  registry: Pick<Registry, "kinds" | "resourceFor">,
  subresource: string | undefined,
): Pick<
  WriteContext,
  "schema" | "apiVersion" | "subresource" | "resetFields" | "empty" | "convert" | "schemaFor"
> {
  const { info } = resource;
  return {
    schema: resource.schema(),
    apiVersion: info.group === "" ? info.version : `${info.group}/${info.version}`,
    ...(subresource === undefined ? {} : { subresource }),
    resetFields: resetFields(resource, subresource),
    ...(info.origin === "builtin" ? { empty: emptyOf(resource) } : {}),
    // Versions of a kind differ little, and every version's own fields are found under the same paths.
    convert: (object, apiVersion) => {
      const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
      if (group === info.group && registry.kinds.byKind(info.group, textOf(version), info.kind)) {
        return { ...object, apiVersion };
      }
      // Of built-in kinds the one unknown version is passed over; a definition that lacks it loses all entries.
      if (info.origin === "custom") throw new ConversionError(`${info.kind} has no version ${apiVersion}`);
      return undefined;
    },
    schemaFor: (apiVersion) => {
      const version = apiVersion.includes("/") ? apiVersion.split("/")[1] : apiVersion;
      return registry.kinds.byKind(info.group, textOf(version), info.kind)?.schema();
    },
  };
}

/** The main endpoint does not write the status, nor the status endpoint the spec. */
function resetFields(resource: Resource, subresource: string | undefined): string[][] {
  if (subresource === "status" && resource.bucket === "deployments.apps")
    return [["spec"], ["metadata", "labels"]];
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
