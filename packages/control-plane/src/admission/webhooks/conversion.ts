import { type Random, uuid } from "@windlass/clock";
import { clone, countParts, isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import { metadataOf, valueAt } from "../../json-fields.ts";
import type { WebhookConversion } from "../../registry/definitions.ts";
import { metadataFaults } from "../../registry/metadata.ts";
import { StatusError } from "../../status.ts";
import { nextTurn, TurnBudget } from "../../steps.ts";
import { CallError, RootsError, readClientConfig, type WebhookClient } from "./client.ts";
import { texts } from "./rules.ts";

/** A conversion is given this long, as in the real server. */
const timeoutSeconds = 30;

/** How many parts of objects are copied between two turns of the event loop. */
const partsPerTurn = 20_000;

/**
 * Converts custom resources by asking the webhook that their definition names. Only labels and
 * annotations of an object's metadata may come back changed; the rest is put back as it was.
 */
export function webhookConversion(client: WebhookClient, random: Random): WebhookConversion {
  return async (definition, objects, apiVersion) => {
    const pending = objects.filter((object) => object.apiVersion !== apiVersion);
    const [first] = pending;
    if (!first) return objects.map((object) => clone(object));
    const failed = (what: string): StatusError =>
      plainError(`conversion webhook for ${kindText(first, objects.length)} ${what}`);
    const webhook = valueAt(definition, "spec", "conversion", "webhook");
    const version = texts(valueAt(webhook, "conversionReviewVersions")).find(
      (one) => one === "v1" || one === "v1beta1",
    );
    if (version === undefined) throw plainError("no supported conversion review versions");
    const uid = uuid(random);
    const budget = new TurnBudget(partsPerTurn);
    const stored: JsonObject[] = [];
    for (const object of pending) {
      if (budget.spend(countParts(object))) await nextTurn();
      stored.push(asStored(object));
    }
    const review: JsonObject = {
      kind: "ConversionReview",
      apiVersion: `apiextensions.k8s.io/${version}`,
      request: { uid, desiredAPIVersion: apiVersion, objects: stored },
      response: { uid: "", convertedObjects: null, result: { metadata: {} } },
    };
    let answer: JsonObject;
    try {
      answer = await client.post(readClientConfig(valueAt(webhook, "clientConfig")), review, {
        userAgent: "kube-apiserver-admission",
        timeoutSeconds,
      });
    } catch (error) {
      if (error instanceof CallError || error instanceof RootsError) throw failed(`failed: ${error.message}`);
      throw error;
    }
    const converted = convertedIn(answer, { version, uid }, failed);
    if (converted.length !== pending.length) {
      throw failed(`returned ${converted.length} objects, expected ${pending.length}`);
    }
    let next = 0;
    const single = objects.length === 1;
    const results: JsonObject[] = [];
    for (const object of objects) {
      if (budget.spend(countParts(object))) await nextTurn();
      if (object.apiVersion === apiVersion) {
        results.push(clone(object));
        continue;
      }
      const index = next++;
      const at = (what: string, alone: string) => (single ? alone : `${what} at index ${index}`);
      const made = accept(object, converted[index] ?? null, apiVersion, {
        type: (why) =>
          failed(`returned ${at("invalid converted object", "invalid object at index 0")}: ${why}`),
        object: (why) => failed(`returned ${at("invalid converted object", "invalid object")}: ${why}`),
        metadata: (why) => failed(`returned ${at("invalid metadata in object", "invalid metadata")}: ${why}`),
      });
      results.push(made);
    }
    return results;
  };
}

/** Without its version: what is stored does not carry one. */
function asStored(object: JsonObject): JsonObject {
  const { resourceVersion: _resourceVersion, ...metadata } = metadataOf(object);
  return clone({ ...object, metadata });
}

/** The real server gives these neither a reason nor details. */
function plainError(message: string): StatusError {
  return new StatusError({ code: 500, message });
}

function kindText(object: JsonObject, count: number): string {
  const kind = `${textOf(object.kind)}${count === 1 ? "" : "List"}`;
  return `${textOf(object.apiVersion)}, Kind=${kind}`;
}

function convertedIn(
  review: JsonObject,
  expected: { readonly version: string; readonly uid: string },
  failed: (what: string) => StatusError,
): Json[] {
  const { version, uid } = expected;
  const { response } = review;
  if (version === "v1") {
    const wanted = "apiextensions.k8s.io/v1, Kind=ConversionReview";
    const got = `${textOf(review.apiVersion)}, Kind=${textOf(review.kind)}`;
    if (got !== wanted) throw failed(`failed: expected webhook response of ${wanted}, got ${got}`);
  }
  if (!isObject(response)) throw failed("failed: no response provided");
  if (version === "v1" && response.uid !== uid) {
    throw failed(
      `failed: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(response.uid))}`,
    );
  }
  const status = textOf(valueAt(response, "result", "status"));
  if (status !== "Success") {
    const message = textOf(valueAt(response, "result", "message"));
    throw failed(`failed: ${message || `response.result.status was '${status}', not 'Success'`}`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

/** How a converted object can be wrong, each with words of its own. */
interface Refusals {
  readonly type: (why: string) => StatusError;
  readonly object: (why: string) => StatusError;
  readonly metadata: (why: string) => StatusError;
}

function accept(original: JsonObject, converted: Json, apiVersion: string, refused: Refusals): JsonObject {
  if (!isObject(converted)) throw refused.type("it is not an object");
  if (converted.apiVersion !== apiVersion) {
    const received = textOf(converted.apiVersion);
    throw refused.type(`invalid groupVersion (expected ${apiVersion}, received ${received})`);
  }
  if (converted.kind !== original.kind) {
    throw refused.type(
      `invalid kind (expected ${textOf(original.kind)}, received ${textOf(converted.kind)})`,
    );
  }
  const before = metadataOf(original);
  const after = converted.metadata;
  for (const [part, word] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [was, is] = [textOf(before[part]), textOf(isObject(after) ? after[part] : undefined)];
    if (was !== is) throw refused.object(`must have the same ${word}: ${was} != ${is}`);
  }
  if (!isObject(after)) throw refused.metadata("missing metadata in converted object");
  const metadata = clone(before);
  for (const part of ["labels", "annotations"] as const) {
    const value = after[part];
    delete metadata[part];
    if (value === undefined || value === null) continue;
    const fault = textsFault(part, value);
    if (fault !== undefined) throw refused.metadata(fault);
    metadata[part] = value;
  }
  return { ...converted, metadata };
}

/** Why labels or annotations cannot be kept. */
function textsFault(part: "labels" | "annotations", value: Json): string | undefined {
  if (!isObject(value)) return `invalid metadata.${part} of type ${goTypeOf(value)} in converted object`;
  for (const [key, text] of Object.entries(value)) {
    if (typeof text === "string") continue;
    return `metadata.${part}[${key}] must be a string, but is ${goTypeOf(text)} in converted object`;
  }
  const faults = metadataFaults({ metadata: { name: "x", [part]: value } }, {}, false)
    .filter(({ field: at }) => at?.startsWith(`metadata.${part}`))
    .map(({ field: at, message }) => `${at}: ${message}`);
  if (faults.length === 0) return undefined;
  return faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`;
}

function goTypeOf(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    case "boolean":
      return "bool";
    case "string":
      return "string";
    default:
      return "map[string]interface {}";
  }
}
