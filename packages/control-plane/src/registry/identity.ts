import type { Random } from "@windlass/clock";
import { type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import { badRequest, conflict, invalid, type ResourceName, StatusError } from "../status.ts";
import { type Store, storageKey } from "../storage/store.ts";
import { generateName } from "./metadata.ts";
import { placeIn } from "./object-rules.ts";
import type { Resource } from "./resource.ts";

/** Which object a request is about. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource?: string;
}

/**
 * Gives an object without a name one that begins as it asks.
 *
 * @throws StatusError 409 if all that were tried are taken
 */
export function chooseName(
  resource: Resource,
  namespace: string | undefined,
  object: JsonObject,
  { store, random }: { readonly store: Store; readonly random: Random },
): void {
  const metadata = metadataOf(object);
  const prefix = metadata.generateName;
  if (metadata.name || typeof prefix !== "string" || prefix === "") return;
  for (let attempt = 0; attempt < 8; attempt++) {
    metadata.name = generateName(random, prefix);
    if (!store.get(resource.bucket, storageKey(namespace, textOf(metadata.name)))) return;
  }
  throw new StatusError({
    code: 409,
    reason: "AlreadyExists",
    message: `${resource.bucket} ${JSON.stringify(metadata.name)} already exists, the server was not able to generate a unique name for the object`,
    details: {
      name: textOf(metadata.name),
      ...(resource.info.group === "" ? {} : { group: resource.info.group }),
      kind: resource.info.plural,
      retryAfterSeconds: 1,
    },
  });
}

/** @throws StatusError 400 if what is sent to an object's URL has another name */
export function checkName(metadata: JsonObject, name: string): void {
  if (metadata.name === name) return;
  throw badRequest(
    `the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${name})`,
  );
}

/**
 * Whether a change is of the object that it was meant for. Names the object if the change does not.
 *
 * @throws StatusError 400, 409, 422
 */
export function checkIdentity(
  target: Target,
  next: JsonObject,
  live: JsonObject,
  kind: "UpdateOptions" | "PatchOptions",
  context: { readonly dryRun: boolean },
): void {
  const { resource, namespace, name } = target;
  const metadata = metadataOf(next);
  const before = metadataOf(live);
  if (metadata.name === undefined || metadata.name === "") metadata.name = name;
  checkName(metadata, name);
  placeIn(resource, namespace, metadata);
  const uid = metadata.uid;
  // A patch is made from the live object, so that another uid is a change of it; a PUT may be about
  // another object.
  if (uid && uid !== before.uid && kind === "UpdateOptions") {
    throw otherIdentity(target, textOf(uid), textOf(before.uid), context);
  }
  const version = textOf(metadata.resourceVersion);
  checkVersion(version);
  if (version === "" || version === "0") {
    if (resource.strategy.unconditionalUpdate === false && kind === "UpdateOptions") {
      throw invalid({ group: resource.info.group, kind: resource.info.plural }, name, [
        {
          reason: "FieldValueInvalid",
          message: "Invalid value: 0: must be specified for an update",
          field: "metadata.resourceVersion",
        },
      ]);
    }
  } else if (version !== before.resourceVersion) {
    throw modified(resource, name);
  }
}

/** Whether this names a version: a number that is not zero. */
export function isVersion(text: unknown): boolean {
  return typeof text === "string" && /^\d+$/.test(text) && BigInt(text) > 0n && BigInt(text) < 2n ** 64n;
}

/** @throws StatusError 500, as the real server does, for a malformed version */
export function checkVersion(version: string): void {
  if (version === "" || /^\d+$/.test(version)) return;
  const message = `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`;
  throw new StatusError({ code: 500, message });
}

/** 409: the object of that name is not the one that was meant. */
export function otherIdentity(
  { resource, namespace, name }: Target,
  meant: string,
  found: string,
  { dryRun }: { readonly dryRun: boolean },
): StatusError {
  // A dry run stops short of the storage that puts the prefix there.
  const prefix = dryRun ? "" : "/registry";
  return conflict(
    nameOf(resource),
    name,
    `StorageError: invalid object, Code: 4, Key: ${prefix}/${storagePath(resource)}/${storageKey(namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${meant}, UID in object meta: ${found}`,
  );
}

/** Where the real server keeps a resource, which is in some of its messages. */
function storagePath({ info, bucket }: Resource): string {
  if (info.origin === "custom") return `${info.group}/${info.plural}`;
  return storagePaths.get(bucket) ?? info.plural;
}

const storagePaths: ReadonlyMap<string, string> = new Map([
  ["services", "services/specs"],
  ["endpoints", "services/endpoints"],
  ["nodes", "minions"],
  ["replicationcontrollers", "controllers"],
  ["ingresses.networking.k8s.io", "ingress"],
  ["customresourcedefinitions.apiextensions.k8s.io", "apiextensions.k8s.io/customresourcedefinitions"],
  ["apiservices.apiregistration.k8s.io", "apiregistration.k8s.io/apiservices"],
]);

/** A resource as messages name it. */
export function nameOf(resource: Resource): ResourceName {
  return { group: resource.info.group, resource: resource.info.plural };
}

export function modified(resource: Resource, name: string): StatusError {
  return conflict(
    nameOf(resource),
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}
