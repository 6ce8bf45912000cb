import { apiVersionOf } from "@windlass/kinds";
import { clone, type JsonObject, textOf } from "../../json.ts";
import type { AdmissionRequest } from "../../registry/admission.ts";
import type { Resource } from "../../registry/resource.ts";
import type { ReviewedObjects } from "./review.ts";
import type { Match } from "./rules.ts";

/**
 * The objects of a request as one who asked for `match` should see them: converted to its version,
 * and as the kind that the subresource shows. Shares nothing with the request's own objects.
 */
export async function shownAs(request: AdmissionRequest, match: Match): Promise<ReviewedObjects> {
  const { object, oldObject } = request;
  return {
    object: object && (await show(request, match, object)),
    oldObject: oldObject && (await show(request, match, oldObject)),
  };
}

async function show(request: AdmissionRequest, match: Match, object: JsonObject): Promise<JsonObject> {
  if (request.subresource === "scale" && request.resource.scale) {
    return clone(request.resource.scale.get(object) ?? {});
  }
  const { settle, info } = request.resource;
  // What is sent to a subresource may be of a kind of its own, which takes no part in the
  // resource's shape or versions.
  if (textOf(object.kind) !== info.kind) return clone(object);
  return await convert(settle ? settle(object) : object, request.resource, match.resource);
}

/** An object in another served version of its kind. */
export async function convert(object: JsonObject, from: Resource, to: Resource): Promise<JsonObject> {
  if (from === to) return clone(object);
  const [stored] = from.conversion ? await from.conversion.toStorage([object]) : [object];
  const [converted] = to.conversion
    ? await to.conversion.fromStorage([stored ?? object])
    : [stored ?? object];
  return { ...clone(converted ?? object), apiVersion: apiVersionOf(to.info) };
}

/**
 * Takes what a mutating webhook made of an object back into the request: decoded and defaulted
 * again, in the version that the request came in.
 */
export async function takeBack(request: AdmissionRequest, match: Match, changed: JsonObject): Promise<void> {
  if (request.subresource === "scale" && request.resource.scale && request.object) {
    const whole = clone(request.object);
    request.resource.scale.set(whole, changed);
    request.object = whole;
    return;
  }
  if (textOf(request.object?.kind) !== request.resource.info.kind) {
    request.object = clone(changed);
    return;
  }
  const { object } = match.resource.decode(changed);
  request.object = await convert(object, match.resource, request.resource);
}

/** The name that messages give to what a request is about. */
export function nameInMessages({ name, object }: AdmissionRequest): string {
  if (name !== "") return name;
  const metadata = object?.metadata as JsonObject | undefined;
  return textOf(metadata?.name) || textOf(metadata?.generateName) || "Unknown";
}
