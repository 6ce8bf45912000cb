/** The part of `there` that `wanted` has fields for. */
export function projected(there: unknown, wanted: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(there)) {
    return there.map((item, index) => projected(item, wanted[index]));
  }
  if (typeof wanted !== "object" || wanted === null || typeof there !== "object" || there === null)
    return there;
  const fields = Object.keys(wanted).filter((name) => Object.hasOwn(there, name));
  return Object.fromEntries(
    fields.map((name) => [
      name,
      projected((there as Record<string, unknown>)[name], (wanted as Record<string, unknown>)[name]),
    ]),
  );
}
