import type { KubernetesObject } from "@windlass/client";
import type { FieldsV1 } from "../cache/contract.ts";

/** What a field manager owns, and in which version of the kind it is named. */
export interface AppliedFields {
  readonly apiVersion: string;
  readonly fields: FieldsV1;
}

/**
 * What a field manager owns of an object as the server sent it, because it applied it. Undefined if
 * it owns nothing.
 */
export function ownedFieldsOf(
  { metadata: { managedFields = [] } }: KubernetesObject,
  manager: string,
  subresource = "",
): AppliedFields | undefined {
  const entry = managedFields.find(
    (one) => one.operation === "Apply" && one.manager === manager && (one.subresource ?? "") === subresource,
  );
  return (
    entry && {
      apiVersion: entry.apiVersion ?? "",
      fields: (entry.fieldsV1 ?? {}) as FieldsV1,
    }
  );
}
