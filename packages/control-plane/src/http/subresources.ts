import { apiVersionOf } from "@windlass/kinds";
import {
  type Authorizer,
  requestToken,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
  reviewSelf,
  reviewSubjectAccess,
  reviewToken,
  type Tokens,
  type User,
} from "../auth/index.ts";
import { clone, isInteger, isObject, type JsonObject, textOf } from "../json.ts";
import { metadataOf, valueAt } from "../json-fields.ts";
import { builtinSchema, type GroupVersionKind, normalize } from "../kinds/index.ts";
import { trackUpdate } from "../merge/index.ts";
import type { Target } from "../registry/identity.ts";
import { timestamp } from "../registry/metadata.ts";
import { badRequest, conflict, namespaceMismatch, StatusError, unsupported } from "../status.ts";
import { decodeBody } from "./body.ts";
import { patch } from "./patch.ts";
import { present, type ReadDependencies } from "./read.ts";
import type { ApiResponse } from "./request.ts";
import type { RequestInfo } from "./request-info.ts";
import { encoded } from "./respond.ts";
import { scale } from "./scale.ts";
import { builtinReader, readObject, update, type WriteRequest } from "./write.ts";

/** What subresources need beyond the registry. */
export interface SubresourceDependencies extends ReadDependencies {
  readonly tokens: Tokens;
  readonly authorizer: Authorizer;
}

/** Answers everything under an object but `status`. */
export type Subresources = (
  deps: SubresourceDependencies,
  target: Target,
  info: RequestInfo,
  write: WriteRequest,
) => Promise<ApiResponse>;

type Handler = (
  deps: SubresourceDependencies,
  target: Target,
  info: RequestInfo,
  write: WriteRequest,
) => Promise<ApiResponse>;

/**
 * Handlers of subresources by name. Others add theirs: the simulated node serves logs, for example.
 */
export function subresources(extra: { readonly [path: string]: Handler } = {}): Subresources {
  const handlers: { readonly [path: string]: Handler } = {
    "pods/binding": bind,
    "pods/eviction": evict,
    "namespaces/finalize": finalize,
    "serviceaccounts/token": token,
    "certificatesigningrequests/approval": writeThrough,
    "pods/ephemeralcontainers": writeThrough,
    "pods/resize": writeThrough,
    ...extra,
  };
  return async (deps, target, info, write) => {
    const { resource, subresource = "" } = target;
    const known = resource.info.subresources.some(({ name }) => name === subresource);
    if (!known) {
      throw new StatusError({
        code: 404,
        reason: "NotFound",
        message: "the server could not find the requested resource",
        details: {},
      });
    }
    if (subresource === "scale") return scale(deps, target, write);
    const path = `${resource.info.plural}/${subresource}`;
    const handler = resource.info.origin === "builtin" ? handlers[path] : undefined;
    if (!handler) throw unsupported(`the subresource ${resource.info.plural}/${subresource}`);
    return handler(deps, target, info, write);
  };
}

/** PUT or PATCH of a whole object through a subresource that guards part of it. */
const writeThrough: Handler = async (deps, target, _info, write) => {
  const { resource } = target;
  if (write.request.method === "GET") {
    return present(deps, resource, await deps.registry.get(target), write.as, write.query);
  }
  return write.request.method === "PATCH" ? patch(deps, target, write) : update(deps, target, write);
};

const success: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** Puts a pod on a node. */
const bind: Handler = async (deps, target, _info, write) => {
  const body = await readPosted(deps, write, bindingKind, "binding");
  const binding = await deps.registry.admit(target, inNamespace(body, target), write.context);
  await assign(deps, target, binding, write);
  return await encoded(201, success, write.as.encoding);
};

const bindingKind = { group: "", version: "v1", kind: "Binding" };

/** Fills in the namespace of the URL, before admission. @throws StatusError 400 for another. */
function inNamespace(object: JsonObject, { namespace }: Pick<Target, "namespace">): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const own = textOf(metadata.namespace);
  if (namespace !== undefined && own !== "" && own !== namespace) throw namespaceMismatch();
  return { ...object, metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }) } };
}

async function assign(
  deps: SubresourceDependencies,
  target: Target,
  binding: JsonObject,
  write: WriteRequest,
): Promise<void> {
  const node = valueAt(binding, "target", "name");
  if (typeof node !== "string" || node === "") throw badRequest("a Binding must name its target");
  const refuse = (why: string) =>
    conflict({ group: "", resource: "pods/binding" }, target.name, `pod ${target.name} ${why}`);
  await deps.registry.update(
    target,
    write.context,
    (live) => {
      if (valueAt(live, "metadata", "deletionTimestamp") !== undefined)
        throw refuse("is being deleted, cannot be assigned to a host");
      const bound = valueAt(live, "spec", "nodeName");
      if (bound) throw refuse(`is already assigned to node ${JSON.stringify(bound)}`);
      const next = clone(live);
      next.spec = { ...(next.spec as JsonObject), nodeName: node };
      const lastTransitionTime = timestamp(deps.registry.clock);
      const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime };
      const conditions = valueAt(live, "status", "conditions");
      next.status = {
        ...(next.status as JsonObject | undefined),
        conditions: [
          ...(Array.isArray(conditions) ? conditions : []).filter(
            (one) => valueAt(one, "type") !== "PodScheduled",
          ),
          scheduled,
        ],
      };
      return next;
    },
    { kind: "UpdateOptions", admitted: true, tracked: true },
  );
}

/** Deletes a pod, unless its disruption budgets say no. */
const evict: Handler = async (deps, target, _info, write) => {
  const body = await readPosted(
    deps,
    write,
    { group: "policy", version: "v1", kind: "Eviction" },
    "eviction",
  );
  const eviction = await deps.registry.admit(target, inNamespace(body, target), write.context);
  const { subresource: _subresource, ...pod } = target;
  const { object } = deps.registry.entry(pod);
  const { spendBudget } = await import("./eviction.ts");
  const options = isObject(eviction.deleteOptions) ? eviction.deleteOptions : {};
  const asked = Array.isArray(options.dryRun) && options.dryRun.includes("All");
  const context = { ...write.context, dryRun: write.context.dryRun || asked };
  await spendBudget(deps.registry, object, context);
  const grace = options.gracePeriodSeconds;
  await deps.registry.delete(
    pod,
    { ...(isInteger(grace) ? { gracePeriodSeconds: grace } : {}), raw: options, admitted: true },
    context,
  );
  return await encoded(201, success, write.as.encoding);
};

/** Takes the finalizers off a namespace. */
const finalize: Handler = async (deps, target, _info, write) => {
  const body = await decodeBody(write.request, target.resource.info);
  const finalizers = valueAt(body.object, "spec", "finalizers") ?? [];
  const version = valueAt(body.object, "metadata", "resourceVersion");
  const updated = await deps.registry.update(
    target,
    write.context,
    (live) => {
      const next = clone(live);
      const { finalizers: _before, ...spec } = next.spec as JsonObject;
      next.spec = Array.isArray(finalizers) && finalizers.length > 0 ? { ...spec, finalizers } : spec;
      if (version) metadataOf(next).resourceVersion = version;
      return next;
    },
    { kind: "UpdateOptions", tracked: true },
  );
  return present(deps, target.resource, updated, write.as, write.query);
};

const defaultExpirationSeconds = 3_600;

/** Issues a token for a service account. */
const token: Handler = async (deps, target, _info, write) => {
  const kind = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
  const body = await readPosted(deps, write, kind, "token", (request) => {
    const spec = isObject(request.spec) ? request.spec : {};
    request.spec = { ...spec, expirationSeconds: spec.expirationSeconds ?? defaultExpirationSeconds };
  });
  const { subresource: _subresource, ...account } = target;
  const { object } = deps.registry.entry(account);
  const wish = await deps.registry.admit(target, inNamespace(body, target), write.context);
  const { tokens } = deps;
  const issued = await requestToken(wish, object, { tokens, clock: deps.registry.clock });
  return await encoded(201, issued, write.as.encoding);
};

type Review = (deps: SubresourceDependencies, info: RequestInfo, write: WriteRequest) => Promise<JsonObject>;

/** Review kinds: POST returns the answer, and nothing is stored. */
const reviews: { readonly [path: string]: Review } = {
  "/bindings": async (deps, { namespace }, write) => {
    const { registry } = deps;
    const [resource, pods] = [registry.resource("", "v1", "bindings"), registry.resource("", "v1", "pods")];
    const body = inNamespace(await readPosted(deps, write, bindingKind, undefined), { namespace });
    const name = textOf(valueAt(body, "metadata", "name"));
    if (!resource || !pods || name === "") throw badRequest("a Binding must name its pod");
    const binding = await registry.admit({ resource, namespace, name }, body, write.context);
    await assign(deps, { resource: pods, namespace, name, subresource: "binding" }, binding, write);
    return success;
  },
  "authorization.k8s.io/subjectaccessreviews": async (deps, _info, write) =>
    reviewSubjectAccess(await question(deps, write, "SubjectAccessReview"), deps.authorizer),
  "authorization.k8s.io/selfsubjectaccessreviews": async (deps, _info, write) =>
    reviewOwnAccess(await question(deps, write, "SelfSubjectAccessReview"), userOf(write), deps.authorizer),
  "authorization.k8s.io/localsubjectaccessreviews": async (deps, { namespace = "" }, write) =>
    reviewLocalAccess(await question(deps, write, "LocalSubjectAccessReview"), namespace, deps.authorizer),
  "authorization.k8s.io/selfsubjectrulesreviews": async (deps, _info, write) =>
    reviewOwnRules(await question(deps, write, "SelfSubjectRulesReview"), userOf(write), deps.authorizer),
  "authentication.k8s.io/tokenreviews": async (deps, _info, write) =>
    reviewToken(await question(deps, write, "TokenReview"), deps.tokens),
  "authentication.k8s.io/selfsubjectreviews": async ({ registry }, _info, write) =>
    reviewSelf(userOf(write), registry.clock),
};

/** Answers a review; undefined for other paths. */
export function reviewAt(
  info: RequestInfo,
): ((deps: SubresourceDependencies, write: WriteRequest) => Promise<ApiResponse>) | undefined {
  const path = `${info.group}/${info.plural}`;
  const review = info.version === "v1" && Object.hasOwn(reviews, path) ? reviews[path] : undefined;
  return review && (async (deps, write) => encoded(201, await review(deps, info, write), write.as.encoding));
}

async function question(
  deps: SubresourceDependencies,
  write: WriteRequest,
  kind: string,
): Promise<JsonObject> {
  const group = kind === "TokenReview" ? "authentication.k8s.io" : "authorization.k8s.io";
  return await readPosted(deps, write, { group, version: "v1", kind }, undefined);
}

/** What is posted and not stored, with its fields tracked as if it were. */
async function readPosted(
  { registry }: SubresourceDependencies,
  write: WriteRequest,
  kind: GroupVersionKind,
  subresource: string | undefined,
  setDefaults?: (object: JsonObject) => void,
): Promise<JsonObject> {
  const next = await readObject(builtinReader(kind), write);
  setDefaults?.(next);
  const apiVersion = apiVersionOf(kind);
  return trackUpdate({
    next,
    schema: builtinSchema(kind.group, kind.version, kind.kind),
    manager: write.context.fieldManager,
    apiVersion,
    subresource,
    time: timestamp(registry.clock),
    empty: normalize(kind, { apiVersion, kind: kind.kind, metadata: {} }),
  });
}

function userOf({ context }: WriteRequest): User {
  const { name, uid, groups, extra } = context.user;
  return {
    name,
    groups: [...groups],
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}
