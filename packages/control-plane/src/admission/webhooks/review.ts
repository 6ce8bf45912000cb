import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import type { GroupVersionKind } from "../../kinds/index.ts";
import type { AdmissionRequest, Requester } from "../../registry/admission.ts";
import { StatusError, type StatusInit } from "../../status.ts";
import { kindShown, type Match, namespaceOf } from "./rules.ts";

/** The objects of a request in the version that a webhook asked for. */
export interface ReviewedObjects {
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

const reviewGroup = "admission.k8s.io";

/** The AdmissionReview that is sent. */
export function reviewOf(
  version: ReviewVersion,
  uid: string,
  request: AdmissionRequest,
  match: Match,
  { object, oldObject }: ReviewedObjects,
): JsonObject {
  return {
    kind: "AdmissionReview",
    apiVersion: `${reviewGroup}/${version}`,
    request: { uid, ...describe(request, match), ...ending(request, object ?? null, oldObject ?? null) },
  };
}

/**
 * A request as policies see it: `request` in their expressions. The objects are variables of their
 * own there.
 */
export function requestOf(request: AdmissionRequest, match: Match): JsonObject {
  return { ...describe(request, match), dryRun: request.dryRun, options: optionsOf(request) };
}

function ending(request: AdmissionRequest, object: Json, oldObject: Json): JsonObject {
  return { object, oldObject, dryRun: request.dryRun, options: optionsOf(request) };
}

/** Admission sees a patch as an update. A connect has no options. */
function optionsOf({ options, dryRun, operation }: AdmissionRequest): JsonObject | null {
  if (operation === "CONNECT") return null;
  const { kind, apiVersion, ...rest } = options;
  return {
    kind: kind === "PatchOptions" ? "UpdateOptions" : textOf(kind),
    apiVersion: textOf(apiVersion),
    ...(dryRun ? { dryRun: ["All"] } : {}),
    ...rest,
  };
}

function describe(request: AdmissionRequest, match: Match): JsonObject {
  const { resource, subresource, operation, name } = request;
  const namespace = namespaceOf(request);
  return {
    kind: kindJson(match.kind),
    resource: resourceJson(match.resource.info),
    ...(subresource === undefined ? {} : { subResource: subresource }),
    requestKind: kindJson(kindShown(resource.info, subresource)),
    requestResource: resourceJson(resource.info),
    ...(subresource === undefined ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: userJson(request.user),
  };
}

function kindJson({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}

function resourceJson({
  group,
  version,
  plural,
}: {
  group: string;
  version: string;
  plural: string;
}): JsonObject {
  return { group, version, resource: plural };
}

function userJson({ name, uid, groups, extra }: Requester): JsonObject {
  const info: JsonObject = { username: name };
  if (uid) info.uid = uid;
  if (groups.length > 0) info.groups = [...groups];
  if (extra && Object.keys(extra).length > 0) {
    info.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  }
  return info;
}

/** Supported versions of AdmissionReview. */
export type ReviewVersion = "v1" | "v1beta1";

export function isReviewVersion(version: string): version is ReviewVersion {
  return version === "v1" || version === "v1beta1";
}

/** What a webhook decided. */
export interface ReviewResponse {
  readonly allowed: boolean;
  /** A JSON patch, decoded from base64; undefined when there is nothing to change. */
  readonly patch: string | undefined;
  readonly patchType: string;
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
}

/** An invalid AdmissionReview response. */
export class InvalidReview extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidReview";
  }
}

/** @throws InvalidReview */
export function verdictOf(
  review: JsonObject,
  expected: { readonly version: ReviewVersion; readonly uid: string; readonly mutating: boolean },
): ReviewResponse {
  const { version, uid, mutating } = expected;
  const response = review.response;
  if (!isObject(response)) throw new InvalidReview("webhook response was absent");
  const patch = textOf(response.patch);
  const patchType = response.patchType;
  if (version === "v1") {
    if (response.uid !== uid) {
      throw new InvalidReview(
        `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(response.uid))}`,
      );
    }
    const kind = kindText(review);
    const wanted = `${reviewGroup}/v1, Kind=AdmissionReview`;
    if (kind !== wanted) throw new InvalidReview(`expected webhook response of ${wanted}, got ${kind}`);
    checkPatch(patch, patchType, mutating);
  }
  return {
    allowed: response.allowed === true,
    patch: mutating && patch !== "" ? Buffer.from(patch, "base64").toString("utf8") : undefined,
    patchType: version === "v1" ? textOf(patchType) : "JSONPatch",
    result: isObject(response.status) ? response.status : undefined,
    warnings: Array.isArray(response.warnings) ? response.warnings.map(textOf) : [],
  };
}

function checkPatch(patch: string, patchType: Json | undefined, mutating: boolean): void {
  const typed = patchType !== undefined && patchType !== null;
  if (!mutating) {
    if (patch !== "") throw new InvalidReview("validating webhook may not return response.patch");
    if (typed) throw new InvalidReview("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== "" && !typed)
    throw new InvalidReview("webhook returned response.patch but not response.patchType");
  if (patch === "" && typed)
    throw new InvalidReview("webhook returned response.patchType but not response.patch");
  if (patchType === "") throw new InvalidReview('webhook returned invalid response.patchType of ""');
}

function kindText(review: JsonObject): string {
  const apiVersion = textOf(review.apiVersion);
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${textOf(review.kind)}`;
}

/** The error for a webhook's denial. */
export function denial(webhook: string, result: JsonObject = {}): StatusError {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const reason = textOf(result.reason);
  const why = textOf(result.message) || reason;
  const code = typeof result.code === "number" && result.code >= 400 ? result.code : 400;
  return new StatusError({
    code,
    message: why === "" ? `${denied} without explanation` : `${denied}: ${why}`,
    ...(reason === "" ? {} : { reason }),
    ...(isObject(result.details) ? { details: result.details as NonNullable<StatusInit["details"]> } : {}),
    ...(isObject(result.metadata) ? { metadata: result.metadata } : {}),
  });
}
