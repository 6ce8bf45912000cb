/**
 * What differs between any two servers, and between two runs on one: identities, versions, times,
 * users.
 */
const fleeting = new Set(["uid", "resourceVersion", "creationTimestamp", "time", "userInfo"]);

/** An answer or object with everything fleeting replaced by its type. */
export function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value === "string") {
    return value
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, "UUID")
      .replace(/gen-[a-z0-9]{5}/g, "gen-XXXXX");
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      fleeting.has(key) ? typeof inner : normal(sorted(key, inner)),
    ]),
  );
}

/**
 * Managers are listed by the time of their last write, in seconds: two writes in one come in either
 * order.
 */
function sorted(key: string, value: unknown): unknown {
  if (key !== "managedFields" || !Array.isArray(value)) return value;
  return [...(value as { manager: string }[])].sort((a, b) => (a.manager < b.manager ? -1 : 1));
}

/** A review as it was sent, users aside. */
export function normalReview(review: unknown): unknown {
  return normal(review);
}
