import { apiVersionOf } from "@windlass/kinds";
import { goTypeOfKind } from "@windlass/kinds/go-types";
import { clone, isLarge, isObject, type JsonObject, textOf } from "../json.ts";
import {
  decodeManagers,
  describe,
  managedFieldsOf,
  managersInSteps,
  mergeApplied,
  withManagers,
} from "../merge/index.ts";
import { badRequest, conflict, notFound, StatusError, UndecodableError } from "../status.ts";
import { finish, nextTurn } from "../steps.ts";
import { storageKey } from "../storage/store.ts";
import { type Reader, type Write, yamlErrors } from "./decode.ts";
import { checkVersion, nameOf, type Target } from "./identity.ts";
import { timestamp } from "./metadata.ts";
import type { Registry, WriteOutcome } from "./registry.ts";
import type { Resource } from "./resource.ts";
import { trackingOf } from "./tracking.ts";

/** A server-side apply as a request brings it. */
export interface Apply {
  readonly type: "apply";
  readonly config: JsonObject;
  /** What the reader says of fields that the configuration has twice. */
  readonly repeated: readonly string[];
  readonly manager: string;
  /** Whether fields are taken over from other managers. */
  readonly force: boolean;
}

/**
 * Applies a configuration: changes the object, or creates it where there is none.
 *
 * @throws StatusError 400, 404, 409, 422, 500 and whatever admission says
 */
export async function applyConfiguration(
  registry: Registry,
  target: Target,
  write: Write,
  { config, repeated, manager, force }: Apply,
): Promise<WriteOutcome> {
  const { resource } = target;
  checkApplied(resource, config);
  const named = isObject(config.metadata) ? config.metadata : undefined;
  const merge = async (live: JsonObject | undefined) => {
    const time = timestamp(registry.clock);
    const isSlow = isLarge(config) || (live !== undefined && isLarge(live));
    if (isSlow) await nextTurn();
    const before = isSlow && live !== undefined ? decodeManagers(managedFieldsOf(live)) : undefined;
    if (isSlow) await nextTurn();
    const { object, managers } = await finish(
      mergeApplied({
        ...(live ? { live, before } : {}),
        config: clone(config),
        manager,
        force,
        time,
        isSlow,
        ...trackingOf(resource, registry, target.subresource),
      }),
    );
    reportRepeated(repeated, write);
    if (isSlow) await nextTurn();
    const merged = isSlow ? await finish(managersInSteps(object, managers)) : withManagers(object, managers);
    if (isSlow) await nextTurn();
    return merged;
  };
  const exists = registry.store.get(resource.bucket, storageKey(target.namespace, target.name)) !== undefined;
  if (!exists) {
    const { subresource } = target;
    if (subresource !== undefined && !resource.strategy.createOnUpdate) {
      throw notFound(nameOf(resource), target.name);
    }
    const merged = await merge(undefined);
    const metadata = (isObject(merged.metadata) ? merged.metadata : {}) as JsonObject;
    if (metadata.name && metadata.name !== target.name) {
      throw badRequest(
        `the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${target.name})`,
      );
    }
    metadata.name = target.name;
    const version = textOf(metadata.resourceVersion);
    delete metadata.resourceVersion;
    merged.metadata = metadata;
    const object = await decodeApplied(resource, merged, config);
    if (named?.uid) throw uidGone(resource, target.name, textOf(named.uid));
    checkVersion(version);
    write.checkMayCreate?.();
    const created = await registry.create(resource, target.namespace, object, write.context, {
      tracked: true,
      subresource,
      through: "update",
    });
    return { object: created, created: true };
  }
  const options = { kind: "PatchOptions", tracked: true } as const;
  const applied = await registry.update(
    target,
    write.context,
    async (live) => await decodeApplied(resource, await merge(live), config),
    options,
  );
  return { object: applied, created: false };
}

/**
 * What was merged in the shape it will be stored.
 *
 * @throws StatusError 500 if it fits the schema and not the type
 */
async function decodeApplied(
  resource: Resource,
  merged: JsonObject,
  config: JsonObject,
): Promise<JsonObject> {
  try {
    if (resource.decodeApplied) return resource.decodeApplied(merged);
    if (!resource.decodeInSteps || !isLarge(merged)) return resource.decode(merged).object;
    return (await finish(resource.decodeInSteps(merged))).object;
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    const type = `${apiVersionOf(resource.info)}, Kind=${resource.info.kind}`;
    throw new StatusError({
      code: 500,
      message: `failed to convert new object (${describe(config)}) to proper version: unable to convert unstructured object to ${type}: ${error.fault.message}`,
    });
  }
}

/**
 * Checks that an applied configuration has the kind of its URL. Another served version of the kind
 * is refused later, by the merge.
 */
export function checkApplied({ info }: Pick<Reader, "info">, config: JsonObject): void {
  const apiVersion = textOf(config.apiVersion);
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const isOther = group !== info.group || textOf(config.kind) !== info.kind || version !== info.version;
  const isServed = group === info.group && goTypeOfKind(group, version, info.kind) !== undefined;
  if (!isOther || (isServed && config.kind === info.kind)) return;
  throw badRequest(`invalid object type: ${group}/${version}, Kind=${textOf(config.kind)}`);
}

/**
 * Warns of repeated fields or refuses them. The real server does so only after everything else was
 * valid.
 *
 * @throws StatusError 400
 */
export function reportRepeated(repeated: readonly string[], write: Write): void {
  if (repeated.length > 0 && write.fieldValidation === "Strict") {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlErrors(repeated)}`);
  }
  if (write.fieldValidation === "Warn") for (const field of repeated) write.context.warn(field);
}

function uidGone(resource: Resource, name: string, uid: string): StatusError {
  return conflict(
    nameOf(resource),
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}
