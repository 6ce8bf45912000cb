import type { KubernetesObject } from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";

/**
 * A request that is no review, or none for this webhook. The sender is at fault: answered with 400.
 */
export class BadReview extends Error {
  override readonly name = "BadReview";
  readonly code = "BAD_REVIEW";
}

/** The two reviews that an API server sends. */
export type ReviewKind = "AdmissionReview" | "ConversionReview";

const versions: Readonly<Record<ReviewKind, string>> = {
  AdmissionReview: "admission.k8s.io/v1",
  ConversionReview: "apiextensions.k8s.io/v1",
};

/**
 * The `request` of a review in version v1, with its uid.
 *
 * @throws BadReview, and nothing else, whatever the text.
 */
export function parseReview(text: string, kind: ReviewKind): Readonly<Record<string, unknown>> {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    throw new BadReview(`the body is not JSON: send a ${kind}`);
  }
  if (!isRecord(review) || review.kind !== kind)
    throw new BadReview(`the body is no ${kind}${isRecord(review) ? `, but ${named(review.kind)}` : ""}`);
  if (review.apiVersion !== versions[kind])
    throw new BadReview(
      `${kind} in version ${named(review.apiVersion)} is not spoken here: list v1 in the webhook's review versions`,
    );
  const { request } = review;
  if (!isRecord(request)) throw new BadReview(`the ${kind} has no request`);
  if (typeof request.uid !== "string" || request.uid === "")
    throw new BadReview(`the request of the ${kind} has no uid`);
  return request;
}

/** A review with its answer, as JSON. */
export function reviewText(kind: ReviewKind, response: object): string {
  return JSON.stringify({ apiVersion: versions[kind], kind, response });
}

/** Converts between the versions of one kind, as what `withVersion` returns does. */
export interface Convertible {
  readonly group: string;
  readonly kind: string;
  convert(object: KubernetesObject, version: string): KubernetesObject;
}

/**
 * The `response` to a ConversionReview: all objects in the desired version, in their order, or a
 * failure that names the first object that could not be converted.
 *
 * @param failed receives what a conversion threw
 * @throws BadReview when the request is malformed
 */
export function convertAll(
  request: Readonly<Record<string, unknown>>,
  kinds: readonly Convertible[],
  failed: (error: unknown) => void,
): object {
  const { uid, desiredAPIVersion, objects } = request;
  if (typeof desiredAPIVersion !== "string" || !Array.isArray(objects))
    throw new BadReview("the ConversionReview must have a desiredAPIVersion and a list of objects");
  const [group = "", version] = desiredAPIVersion.split("/");
  const convertedObjects: KubernetesObject[] = [];
  for (const object of objects as readonly unknown[]) {
    const subject = subjectOf(object);
    const kind = kinds.find((one) => one.group === group && isRecord(object) && one.kind === object.kind);
    if (!kind || version === undefined)
      return failure(uid, `${subject}: nothing here converts it to ${desiredAPIVersion}`);
    try {
      convertedObjects.push(kind.convert(object as KubernetesObject, version));
    } catch (error) {
      failed(error);
      return failure(
        uid,
        `${subject}: converting it to ${desiredAPIVersion} failed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return { uid, convertedObjects, result: { status: "Success" } };
}

function failure(uid: unknown, message: string): object {
  return { uid, convertedObjects: [], result: { status: "Failure", message } };
}

function subjectOf(object: unknown): string {
  if (!isRecord(object)) return `${named(object)} among the objects`;
  const { name, namespace } = isRecord(object.metadata) ? object.metadata : {};
  const place = textOf(namespace) === "" ? textOf(name) : `${textOf(namespace)}/${textOf(name)}`;
  return `${textOf(object.apiVersion)} ${textOf(object.kind)} ${place}`;
}

function named(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 100);
}

/** The string, or the empty one for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
