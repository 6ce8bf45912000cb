import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import type { Store } from "../../storage/store.ts";
import { type NamedCondition, readConditions } from "../webhooks/hooks.ts";
import { type MatchCriteria, readRules, texts } from "../webhooks/rules.ts";

/** A ValidatingAdmissionPolicy, read once, with the bindings that put it to use. */
export interface Policy {
  readonly name: string;
  readonly criteria: MatchCriteria;
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly conditions: readonly NamedCondition[];
  readonly variables: readonly NamedCondition[];
  readonly validations: readonly Validation[];
  /**
   * The expressions behind audit annotations. There is no audit log here, but one that fails
   * still refuses the request.
   */
  readonly auditExpressions: readonly string[];
  readonly ignoreFailures: boolean;
  readonly bindings: readonly Binding[];
}

export interface Validation {
  readonly expression: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string;
}

export interface Binding {
  readonly name: string;
  /** Absent where the binding adds nothing to what the policy asks for. */
  readonly criteria: MatchCriteria | undefined;
  readonly paramRef: JsonObject | undefined;
  readonly actions: readonly string[];
}

const policiesBucket = "validatingadmissionpolicies.admissionregistration.k8s.io";
const bindingsBucket = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

/** All policies that have a binding, by name. */
export class Policies {
  readonly #store: Store;
  #known: readonly Policy[] | undefined;

  constructor(store: Store) {
    this.#store = store;
    for (const bucket of [policiesBucket, bindingsBucket]) {
      store.subscribe(bucket, () => {
        this.#known = undefined;
      });
    }
  }

  list(): readonly Policy[] {
    this.#known ??= this.#read();
    return this.#known;
  }

  #read(): Policy[] {
    const bindings = new Map<string, Binding[]>();
    for (const { object } of this.#store.list(bindingsBucket).entries) {
      const policy = textOf(valueAt(object, "spec", "policyName"));
      bindings.set(policy, [...(bindings.get(policy) ?? []), readBinding(object)]);
    }
    return this.#store.list(policiesBucket).entries.flatMap(({ object }) => {
      const own = bindings.get(object.metadata.name);
      return own ? [readPolicy(object, own)] : [];
    });
  }
}

function readPolicy(policy: JsonObject, bindings: readonly Binding[]): Policy {
  const spec = isObject(policy.spec) ? policy.spec : {};
  const { paramKind, validations } = spec;
  return {
    name: textOf(valueAt(policy, "metadata", "name")),
    criteria: readCriteria(spec.matchConstraints),
    paramKind: isObject(paramKind)
      ? { apiVersion: textOf(paramKind.apiVersion), kind: textOf(paramKind.kind) }
      : undefined,
    conditions: readConditions(spec.matchConditions),
    variables: readConditions(spec.variables),
    auditExpressions: (Array.isArray(spec.auditAnnotations) ? spec.auditAnnotations : [])
      .filter(isObject)
      .map(({ valueExpression }) => textOf(valueExpression)),
    validations: (Array.isArray(validations) ? validations : []).filter(isObject).map((validation) => ({
      expression: textOf(validation.expression),
      message: textOf(validation.message),
      messageExpression: textOf(validation.messageExpression),
      reason: textOf(validation.reason) || "Invalid",
    })),
    ignoreFailures: spec.failurePolicy === "Ignore",
    bindings,
  };
}

function readBinding(binding: JsonObject): Binding {
  const spec = isObject(binding.spec) ? binding.spec : {};
  return {
    name: textOf(valueAt(binding, "metadata", "name")),
    criteria: isObject(spec.matchResources) ? readCriteria(spec.matchResources) : undefined,
    paramRef: isObject(spec.paramRef) ? spec.paramRef : undefined,
    actions: texts(spec.validationActions),
  };
}

/** No rules at all ask for everything. */
function readCriteria(resources: Json | undefined): MatchCriteria {
  const given = isObject(resources) ? resources : {};
  const rules = readRules(given.resourceRules);
  return {
    rules: rules.length > 0 ? rules : [everything],
    excluded: readRules(given.excludeResourceRules),
    equivalent: given.matchPolicy !== "Exact",
    namespaceSelector: given.namespaceSelector,
    objectSelector: given.objectSelector,
  };
}

const everything = {
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*/*"],
  scope: "*",
  resourceNames: [],
};
