import type { RecordedGoTypes } from "@windlass/kinds/go-types";

/** By a type's Go name, such as `core.v1.PodSpec`. */
type FieldsByType = Readonly<Record<string, readonly string[]>>;

/**
 * Fields that Go would write as null, and no server ever does: an object whose field is null or
 * empty is refused. `tests/api/empty-fields.test.ts` has a request for each.
 */
export const refusedWhenEmpty: FieldsByType = {
  "admissionregistration.v1.MutatingWebhook": ["admissionReviewVersions", "sideEffects"],
  "admissionregistration.v1.ValidatingWebhook": ["admissionReviewVersions", "sideEffects"],
  "apiextensions.v1.CustomResourceDefinitionSpec": ["versions"],
  "apiextensions.v1.WebhookConversion": ["conversionReviewVersions"],
  "apps.v1.ControllerRevision": ["data"],
  "apps.v1.DaemonSetSpec": ["selector"],
  "apps.v1.DeploymentSpec": ["selector"],
  "apps.v1.ReplicaSetSpec": ["selector"],
  "apps.v1.StatefulSetSpec": ["selector"],
  "batch.v1.PodFailurePolicyOnExitCodesRequirement": ["values"],
  "batch.v1.SuccessPolicy": ["rules"],
  "certificates.v1.CertificateSigningRequestSpec": ["request"],
  "core.v1.CephFSPersistentVolumeSource": ["monitors"],
  "core.v1.CephFSVolumeSource": ["monitors"],
  "core.v1.NodeSelector": ["nodeSelectorTerms"],
  "core.v1.PodSpec": ["containers"],
  "core.v1.RBDPersistentVolumeSource": ["monitors"],
  "core.v1.RBDVolumeSource": ["monitors"],
  "core.v1.TopologySelectorLabelRequirement": ["values"],
  "discovery.v1.Endpoint": ["addresses"],
  "flowcontrol.v1.NonResourcePolicyRule": ["nonResourceURLs", "verbs"],
  "flowcontrol.v1.PolicyRulesWithSubjects": ["subjects"],
  "flowcontrol.v1.ResourcePolicyRule": ["apiGroups", "resources", "verbs"],
  "networking.v1.HTTPIngressPath": ["pathType"],
  "networking.v1.HTTPIngressRuleValue": ["paths"],
  "rbac.v1.PolicyRule": ["verbs"],
  "resource.v1.OpaqueDeviceConfiguration": ["parameters"],
};

/** Fields that the server fills in: never null in what it returns. The same test reads each. */
export const filledInWhenEmpty: FieldsByType = {
  "apiextensions.v1.CustomResourceDefinitionStatus": ["storedVersions"],
  "authorization.v1.NonResourceRule": ["verbs"],
  "authorization.v1.ResourceRule": ["verbs"],
  "authorization.v1.SubjectRulesReviewStatus": ["nonResourceRules", "resourceRules"],
  "certificates.v1.CertificateSigningRequestCondition": ["lastTransitionTime", "lastUpdateTime"],
  "core.v1.GRPCAction": ["service"],
  "flowcontrol.v1.LimitedPriorityLevelConfiguration": ["nominalConcurrencyShares"],
  "networking.v1.IngressClassParametersReference": ["scope"],
};

/**
 * The fields of each type that a server may return as null. Go writes a list, bytes, a pointer or
 * raw JSON as null unless its tag says `omitempty`, and a time that is not set in any case unless
 * it has `omitzero`; OpenAPI omits that.
 */
export class NullableFields {
  readonly #types: RecordedGoTypes;

  constructor(types: RecordedGoTypes) {
    this.#types = types;
  }

  /** @param type such as `core.v1.PodSpec` */
  has(type: string, field: string): boolean {
    const listed = (fields: FieldsByType) => Object.hasOwn(fields, type) && fields[type]?.includes(field);
    return this.isNullInGo(type, field) && !listed(refusedWhenEmpty) && !listed(filledInWhenEmpty);
  }

  /** Whether Go would write the field as null, whatever the server makes of it. */
  isNullInGo(type: string, field: string): boolean {
    const { id, local } = split(type);
    const fields = this.#types.packages[id]?.types[local];
    if (fields === undefined || typeof fields === "string") return false;
    return fields.some(([name, expression, flags]) => {
      if (name !== field || flags.includes("i") || flags.includes("z")) return false;
      const written = this.#writtenAsNull(expression, id);
      return written === "always" || (written === "unlessOmitted" && !flags.includes("o"));
    });
  }

  #writtenAsNull(expression: string, id: string): "always" | "unlessOmitted" | "never" {
    if (/^(\*|\[\]|map\[)/.test(expression)) return "unlessOmitted";
    const name = expression.includes(".") ? expression : `${id}.${expression}`;
    // Structs to Go, which `omitempty` does not leave out.
    if (structsWrittenAsNull.has(name)) return "always";
    const place = split(name);
    const type = this.#types.packages[place.id]?.types[place.local];
    return typeof type === "string" ? this.#writtenAsNull(type, place.id) : "never";
  }
}

const structsWrittenAsNull: ReadonlySet<string> = new Set([
  "apiextensions.v1.JSON",
  "meta.v1.MicroTime",
  "meta.v1.Time",
  "runtime.RawExtension",
]);

function split(name: string): { readonly id: string; readonly local: string } {
  const dot = name.lastIndexOf(".");
  return { id: name.slice(0, dot), local: name.slice(dot + 1) };
}
