import type { PolicyRule } from "../controller/rbac.ts";

const looks = ["get", "list", "watch"];

/**
 * Rights on webhook configurations, by name; `create` cannot be limited to one, and is needed only
 * to install them.
 */
export function configurationRules(
  name: string,
  kinds: readonly (string | undefined)[],
  { install }: { readonly install: boolean },
): readonly PolicyRule[] {
  if (kinds.length === 0) return [];
  const resources = kinds.map((kind) => `${kind?.toLowerCase()}s`).toSorted();
  const subject = { apiGroups: ["admissionregistration.k8s.io"], resources };
  return [
    ...(install ? [{ ...subject, verbs: ["create"] }] : []),
    { ...subject, verbs: [...looks, "patch"], resourceNames: [name] },
  ];
}

/** Rights on the CRDs whose conversion leads here, by name. */
export function conversionRules(names: readonly string[]): readonly PolicyRule[] {
  if (names.length === 0) return [];
  return [
    {
      apiGroups: ["apiextensions.k8s.io"],
      resources: ["customresourcedefinitions"],
      verbs: [...looks, "patch"],
      resourceNames: names,
    },
  ];
}

/** Rights on the Secret of the authority. */
export function authoritySecretRules(name: string): readonly PolicyRule[] {
  const secrets = { apiGroups: [""], resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, verbs: [...looks, "update"], resourceNames: [name] },
  ];
}
