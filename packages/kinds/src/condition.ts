/** The condition of a type in an object's status, if it has one. */
export function conditionOf<Condition extends { readonly type: string }>(
  object: { readonly status?: { readonly conditions?: readonly Condition[] | null } | null | undefined },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}
