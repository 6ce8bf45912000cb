import { append } from "../../append.ts";
import type { Authorizer, User } from "../../auth/index.ts";
import { isObject, type JsonObject } from "../../json.ts";
import type { Matcher } from "../../patterns/index.ts";
import type { Admission, AdmissionRequest } from "../../registry/admission.ts";
import type { Registry } from "../../registry/registry.ts";
import { StatusError } from "../../status.ts";
import { finish } from "../../steps.ts";
import { requestOf } from "../webhooks/review.ts";
import { isExempt, type Match, matchRequest, namespaceOf } from "../webhooks/rules.ts";
import { nameInMessages, shownAs } from "../webhooks/versions.ts";
import type { CompiledPolicy, PolicyViolation } from "./evaluation.ts";
import { ConfigurationError, collectParams, paramInfo } from "./params.ts";
import { type Binding, Policies, type Policy } from "./policies.ts";

export interface PolicyDependencies {
  readonly registry: Registry;
  /** Expressions may ask it. */
  readonly authorizer: Authorizer;
}

/**
 * Evaluates requests against the ValidatingAdmissionPolicies that are bound. CEL is loaded for the
 * first of them.
 */
export function validatingPolicies(deps: PolicyDependencies): Admission {
  const policies = new Policies(deps.registry.store);
  return {
    name: "ValidatingAdmissionPolicy",
    validate: (request) => {
      const all = policies.list();
      if (all.length === 0 || isExempt(request)) return;
      return validate(deps, all, request);
    },
  };
}

/** Why a request is refused, and by whom. */
interface Refusal {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

async function validate(
  deps: PolicyDependencies,
  policies: readonly Policy[],
  request: AdmissionRequest,
): Promise<void> {
  const refusals: Refusal[] = [];
  for (const policy of policies) {
    const match = matchRequest(policy.criteria, request, deps.registry);
    if (match === "no match") continue;
    const fault = "error" in match ? match.error.message : paramFault(policy, deps.registry);
    if ("error" in match || fault !== undefined) {
      append(refusals, misconfigured(policy, undefined, fault ?? ""));
    } else {
      for (const binding of policy.bindings) {
        append(refusals, await evaluateBinding(deps, policy, binding, request, match));
      }
    }
  }
  const [first] = refusals;
  if (first) throw refusal(first, request);
}

function paramFault({ paramKind }: Policy, registry: Registry): string | undefined {
  try {
    if (paramKind) paramInfo(paramKind, registry);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
}

function misconfigured(policy: Policy, binding: string | undefined, why: string): Refusal[] {
  if (policy.ignoreFailures) return [];
  const message = `failed to configure ${binding === undefined ? "policy" : "binding"}: ${why}`;
  return [{ policy: policy.name, binding, message, reason: "Invalid" }];
}

async function evaluateBinding(
  { registry, authorizer }: PolicyDependencies,
  policy: Policy,
  binding: Binding,
  request: AdmissionRequest,
  match: Match,
): Promise<Refusal[]> {
  if (binding.criteria) {
    const narrowed = matchRequest(binding.criteria, request, registry);
    if (narrowed === "no match") return [];
    if ("error" in narrowed) return misconfigured(policy, binding.name, narrowed.error.message);
  }
  let params: (JsonObject | undefined)[];
  try {
    params = await collectParams(policy, binding, namespaceOf(request), registry);
  } catch (error) {
    if (error instanceof ConfigurationError) return misconfigured(policy, binding.name, error.message);
    throw error;
  }
  if (params.length === 0) return [];
  const matcher = registry.patterns.matcher();
  const compiled = await compiledOf(policy, matcher);
  const shown = await shownAs(request, match);
  const objections: PolicyViolation[] = [];
  for (const one of params) {
    const evaluated = compiled.evaluate(matcher, {
      ...shown,
      request: requestOf(request, match),
      params: one,
      namespaceObject: namespaceObject(registry, request.namespace),
      authorizer,
      user: request.user as User,
    });
    append(objections, await finish(evaluated));
  }
  return objections.flatMap(({ message, reason, always }) => {
    if (binding.actions.includes("Warn") && !always) {
      request.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      );
    }
    return binding.actions.includes("Deny") || always
      ? [{ policy: policy.name, binding: binding.name, message, reason }]
      : [];
  });
}

const compilations = new WeakMap<Policy, CompiledPolicy>();

async function compiledOf(policy: Policy, matcher: Matcher): Promise<CompiledPolicy> {
  let compiled = compilations.get(policy);
  if (!compiled) {
    const { compilePolicy } = await import("./evaluation.ts");
    compiled = await finish(matcher.attempt(() => compilePolicy(policy, matcher)));
    compilations.set(policy, compiled);
  }
  return compiled;
}

/** The namespace a request is in, without what expressions may not see. */
function namespaceObject(registry: Registry, name: string | undefined): JsonObject | undefined {
  const found = name === undefined ? undefined : registry.store.get("namespaces", name);
  if (!found) return undefined;
  const { metadata, spec, status } = found.object;
  const { managedFields: _managedFields, ownerReferences: _ownerReferences, ...kept } = metadata;
  return {
    metadata: kept,
    ...(isObject(spec) ? { spec } : {}),
    ...(isObject(status) ? { status } : {}),
  };
}

const codes: { readonly [reason: string]: number } = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
};

function refusal({ policy, binding, message, reason }: Refusal, request: AdmissionRequest): StatusError {
  const { group, plural } = request.resource.info;
  const by = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? "" : ` with binding '${binding}'`}`;
  const why = `${by} denied request: ${message}`;
  const name = nameInMessages(request);
  return new StatusError({
    code: codes[reason] ?? 422,
    reason,
    message: `${group === "" ? plural : `${plural}.${group}`} ${JSON.stringify(name)} is forbidden: ${why}`,
    details: { name, ...(group === "" ? {} : { group }), kind: plural, causes: [{ message: why }] },
  });
}
