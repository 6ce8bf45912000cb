import { isObject, type JsonObject, textOf } from "../../json.ts";
import type { KindInfo } from "../../kinds/index.ts";
import { selectorMatcher } from "../../registry/label-selector.ts";
import type { Registry } from "../../registry/registry.ts";
import { storageKey } from "../../storage/store.ts";
import type { Binding, Policy } from "./policies.ts";

/** A policy or binding with an invalid configuration. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigurationError";
  }
}

/**
 * The parameters that a binding gives to its policy: the policy is evaluated once with each. A
 * single undefined means that it is evaluated without any; none at all, that it is not evaluated.
 *
 * @throws ConfigurationError
 */
export async function collectParams(
  { paramKind }: Policy,
  { paramRef }: Binding,
  namespace: string | undefined,
  registry: Registry,
): Promise<(JsonObject | undefined)[]> {
  if (!paramKind || !paramRef) return [undefined];
  const info = paramInfo(paramKind, registry);
  const resource = registry.resourceFor(info);
  const named = textOf(paramRef.namespace);
  if (named !== "" && !info.namespaced) {
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const within = info.namespaced ? named || namespace : undefined;
  if (info.namespaced && !within) {
    throw new ConfigurationError(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    );
  }
  const name = textOf(paramRef.name);
  const found =
    name === ""
      ? registry.store
          .list(resource.bucket, within === undefined ? {} : { prefix: `${within}/` })
          .entries.filter(({ object }) => selects(paramRef, object))
      : [registry.store.get(resource.bucket, storageKey(within, name))].filter(
          (entry) => entry !== undefined,
        );
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny") {
    throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return await Promise.all(found.map(({ object }) => registry.fromStorage(resource, object)));
}

/** The kind of a policy's parameters. @throws ConfigurationError when there is no such kind */
export function paramInfo(
  { apiVersion, kind }: NonNullable<Policy["paramKind"]>,
  { kinds }: Pick<Registry, "kinds">,
): KindInfo {
  const [group, version] = (apiVersion.includes("/") ? apiVersion : `/${apiVersion}`).split("/");
  const info = kinds.byKind(group as string, version as string, kind);
  if (info) return info;
  throw new ConfigurationError(
    `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`,
  );
}

function selects({ selector }: JsonObject, object: JsonObject): boolean {
  const labels = isObject(object.metadata) ? object.metadata.labels : undefined;
  return selectorMatcher(selector)(isObject(labels) ? labels : undefined);
}
