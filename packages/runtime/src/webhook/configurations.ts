import type { AnyKind, Manifest } from "@windlass/client";
import type {
  LabelSelector,
  MutatingWebhook,
  MutatingWebhookConfigurationInput,
  ValidatingWebhook,
  ValidatingWebhookConfigurationInput,
  WebhookClientConfig,
} from "@windlass/kinds/builtin";
import type { Operation } from "./admission.ts";

/** When the API server asks a webhook, and what it does if it gets no answer. */
export interface WebhookRules {
  /** @default ["CREATE", "UPDATE"] */
  readonly operations?: readonly Operation[];
  /** Also asked about these subresources of the kind, e.g. `status`. @default none */
  readonly subresources?: readonly string[];
  /**
   * What the API server does with a request when the webhook is unreachable, fails or times out.
   *
   * @default "Fail"
   */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** How long the API server waits, in seconds: 1 to 30. @default the server's `timeoutSeconds` */
  readonly timeoutSeconds?: number;
  /**
   * Which namespaces' objects are asked about. `{}` is all.
   * @default all but the operator's own, so that a webhook that is down cannot keep its own
   *   operator from coming up
   */
  readonly namespaceSelector?: LabelSelector;
  /** Which objects are asked about, by their labels. @default all */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that must all be true for the webhook to be asked. @default none */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** `Exact`: requests in other versions of the kind are not asked about. @default "Equivalent" */
  readonly matchPolicy?: "Equivalent" | "Exact";
}

/** Options of a webhook that changes objects. */
export interface DefaultRules extends WebhookRules {
  /** `IfNeeded`: asked again when a later webhook changed the object. @default "Never" */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** A webhook that was declared. */
export interface Declared {
  readonly type: "validate" | "default";
  readonly kind: AnyKind;
  readonly rules: DefaultRules;
}

/** Where the API server finds the webhooks: a Service, or a URL for development. */
export type Where =
  | { readonly service: { readonly name: string; readonly namespace: string; readonly port: number } }
  | { readonly url: string };

/** What the webhook configurations of an operator are made from. */
export interface ConfigurationParts {
  /** The name of both configurations. */
  readonly name: string;
  /** The operator's own namespace. */
  readonly namespace: string;
  /**
   * Whether the operator runs there, and must be able to start while its webhooks are down: then
   * they leave it alone.
   */
  readonly leaveOwnAlone: boolean;
  readonly where: Where;
  readonly timeoutSeconds: number;
}

/**
 * The two objects that tell an API server of webhooks; either is absent when nothing asks for it.
 */
export type WebhookConfiguration = (MutatingWebhookConfigurationInput | ValidatingWebhookConfigurationInput) &
  Manifest;

/** `/validate-example-com-v1-webapp`, as kubebuilder names it. */
export function pathOf({ type, kind }: Pick<Declared, "type" | "kind">): string {
  const verb = type === "validate" ? "validate" : "mutate";
  return `/${verb}-${kind.group.replaceAll(".", "-")}-${kind.version}-${kind.kind.toLowerCase()}`;
}

/** The `clientConfig` for a path. */
export function clientConfigFor(where: Where, path: string): WebhookClientConfig {
  if ("url" in where) return { url: `${where.url.replace(/\/$/, "")}${path}` };
  return { service: { ...where.service, path } };
}

/**
 * The configurations of all webhooks that were declared, without the `caBundle` that the running
 * server puts in.
 */
export function configurationsFor(
  declared: readonly Declared[],
  parts: ConfigurationParts,
): readonly WebhookConfiguration[] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = { name: parts.name };
  const mutating = declared.filter(({ type }) => type === "default").map((one) => mutatingFor(one, parts));
  const validating = declared.filter(({ type }) => type === "validate").map((one) => entryFor(one, parts));
  return [
    ...(mutating.length === 0
      ? []
      : [{ apiVersion, kind: "MutatingWebhookConfiguration", metadata, webhooks: mutating } as const]),
    ...(validating.length === 0
      ? []
      : [{ apiVersion, kind: "ValidatingWebhookConfiguration", metadata, webhooks: validating } as const]),
  ];
}

function mutatingFor(declared: Declared, parts: ConfigurationParts): MutatingWebhook {
  return { ...entryFor(declared, parts), reinvocationPolicy: declared.rules.reinvocationPolicy ?? "Never" };
}

function entryFor(declared: Declared, parts: ConfigurationParts): ValidatingWebhook {
  const { type, kind, rules } = declared;
  const { operations = ["CREATE", "UPDATE"], subresources = [], objectSelector, matchConditions } = rules;
  const namespaceSelector =
    rules.namespaceSelector ?? (parts.leaveOwnAlone ? awayFrom(parts.namespace, kind) : undefined);
  return {
    // The API wants at least three labels; the core group has no name of its own.
    name: `${type}.${kind.plural}.${kind.group === "" ? "core" : kind.group}`,
    admissionReviewVersions: ["v1"],
    clientConfig: clientConfigFor(parts.where, pathOf(declared)),
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: [kind.version],
        operations,
        resources: [kind.plural, ...subresources.map((one) => `${kind.plural}/${one}`)],
        scope: kind.scope,
      },
    ],
    failurePolicy: rules.failurePolicy ?? "Fail",
    matchPolicy: rules.matchPolicy ?? "Equivalent",
    sideEffects: "None",
    timeoutSeconds: rules.timeoutSeconds ?? parts.timeoutSeconds,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions === undefined ? {} : { matchConditions }),
  };
}

/**
 * Objects without a namespace are always asked about, except that a Namespace is selected by its
 * own labels.
 */
function awayFrom(namespace: string, kind: AnyKind): LabelSelector | undefined {
  if (kind.scope === "Cluster" && !(kind.group === "" && kind.kind === "Namespace")) return undefined;
  return {
    matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: [namespace] }],
  };
}
