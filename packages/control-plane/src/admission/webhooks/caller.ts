import { type Random, uuid } from "@windlass/clock";
import type { Authorizer, User } from "../../auth/index.ts";
import type { HookOutcome } from "../../metrics/server-metrics.ts";
import type { AdmissionRequest } from "../../registry/admission.ts";
import type { Registry } from "../../registry/registry.ts";
import { badRequest, forbidden, internalError, type StatusError } from "../../status.ts";
import { finish } from "../../steps.ts";
import { responseFault } from "./answer-faults.ts";
import { CallError, RootsError, readClientConfig, type WebhookClient } from "./client.ts";
import type { Hook } from "./hooks.ts";
import {
  denial,
  InvalidReview,
  isReviewVersion,
  type ReviewedObjects,
  type ReviewResponse,
  requestOf,
  reviewOf,
  verdictOf,
} from "./review.ts";
import { type Match, matchRequest } from "./rules.ts";
import { shownAs } from "./versions.ts";

/** What webhooks need of the server around them. */
export interface WebhookDependencies {
  readonly registry: Registry;
  readonly client: WebhookClient;
  /** Match conditions may ask it. */
  readonly authorizer: Authorizer;
  readonly random: Random;
}

/** A failed call to a webhook, as opposed to a denial. `failurePolicy: Ignore` ignores it. */
export class HookFailure extends Error {
  readonly status: StatusError;

  constructor(hook: string, why: string) {
    const message = `failed calling webhook ${JSON.stringify(hook)}: ${why}`;
    super(message);
    this.name = "HookFailure";
    this.status = internalError(message);
  }
}

/**
 * Whether a webhook is to be called for a request. Only those with conditions take a while to say.
 */
export function matchHook(
  deps: WebhookDependencies,
  hook: Hook,
  request: AdmissionRequest,
): Match | undefined | Promise<Match | undefined> {
  const match = matchRequest(hook.criteria, request, deps.registry);
  if (match === "no match") return undefined;
  if ("error" in match) throw match.error;
  return hook.conditions.length === 0 ? match : evaluateConditions(deps, hook, request, match);
}

const compiled = new WeakMap<Hook, ReturnType<typeof import("../policy/conditions.ts").compileConditions>>();

async function evaluateConditions(
  { authorizer, registry }: WebhookDependencies,
  hook: Hook,
  request: AdmissionRequest,
  match: Match,
): Promise<Match | undefined> {
  const matcher = registry.patterns.matcher();
  let conditions = compiled.get(hook);
  if (!conditions) {
    const { compileConditions } = await import("../policy/conditions.ts");
    const declarations = { hasParams: false, hasAuthorizer: true };
    const compile = () => compileConditions(hook.conditions, declarations, matcher);
    conditions = await finish(matcher.attempt(compile));
    compiled.set(hook, conditions);
  }
  const shown = await shownAs(request, match);
  const outcome = await finish(
    conditions.evaluate(matcher, {
      ...shown,
      request: requestOf(request, match),
      authorizer,
      user: request.user as User,
    }),
  );
  if (outcome === "hold") return match;
  if (outcome === "do not hold" || hook.ignoreFailures) return undefined;
  const { group, plural } = request.resource.info;
  throw forbidden({ group, resource: plural }, request.name, outcome.error);
}

/**
 * Asks one webhook.
 *
 * @throws HookFailure when it could not be asked
 * @throws StatusError when it cannot take part in a dry run
 */
export async function askHook(
  deps: WebhookDependencies,
  hook: Hook,
  request: AdmissionRequest,
  match: Match,
  shown: ReviewedObjects,
  kind: "mutating" | "validating",
): Promise<ReviewResponse> {
  const { metrics } = deps.registry;
  const began = metrics.now();
  const told = (code: number, rejection: HookOutcome["rejection"]) =>
    metrics.hookAsked({
      name: hook.name,
      type: kind === "mutating" ? "admit" : "validate",
      operation: request.operation,
      seconds: metrics.now() - began,
      code,
      rejection,
    });
  try {
    const verdict = await ask(deps, hook, request, match, shown, kind);
    if (verdict.allowed) told(200, undefined);
    else told(denied(hook, verdict).code, "no_error");
    return verdict;
  } catch (error) {
    if (error instanceof HookFailure) {
      told(error.status.code, hook.ignoreFailures ? undefined : "calling_webhook_error");
    }
    throw error;
  }
}

async function ask(
  deps: WebhookDependencies,
  hook: Hook,
  request: AdmissionRequest,
  match: Match,
  shown: ReviewedObjects,
  kind: "mutating" | "validating",
): Promise<ReviewResponse> {
  if (request.dryRun && hook.sideEffects !== "None" && hook.sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
  }
  const version = hook.reviewVersions.find(isReviewVersion);
  if (version === undefined) {
    throw new HookFailure(
      hook.name,
      "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
    );
  }
  const uid = uuid(deps.random);
  try {
    const review = await deps.client.post(
      readClientConfig(hook.clientConfig),
      reviewOf(version, uid, request, match, shown),
      { userAgent: "kube-apiserver-admission", timeoutSeconds: hook.timeoutSeconds },
    );
    const fault = responseFault(review);
    if (fault !== undefined) throw new CallError(fault);
    const verdict = verdictOf(review, { version, uid, mutating: kind === "mutating" });
    for (const warning of verdict.warnings) if (fitsHeader(warning)) request.warn(warning);
    return verdict;
  } catch (error) {
    if (error instanceof RootsError) throw new HookFailure(hook.name, error.message);
    if (error instanceof CallError)
      throw new HookFailure(hook.name, `failed to call webhook: ${error.message}`);
    if (error instanceof InvalidReview) {
      throw new HookFailure(hook.name, `received invalid webhook response: ${error.message}`);
    }
    throw error;
  }
}

/**
 * Warnings travel in a header, where control characters cannot go: those that have any are dropped.
 */
function fitsHeader(warning: string): boolean {
  return warning !== "" && !/\p{Cc}/u.test(warning);
}

export function denied(hook: Hook, verdict: ReviewResponse): StatusError {
  return denial(hook.name, verdict.result);
}
