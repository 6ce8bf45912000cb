import { type KubernetesObject, matchesSelector, parseSelector, SelectorError } from "@windlass/client";

/** Whether an object with these labels is selected. */
export type LabelFilter = (labels: Readonly<Record<string, string>>) => boolean;

/** @throws SelectorError */
export function parseLabels(selector: string): LabelFilter {
  const requirements = parseSelector(selector);
  return (labels) => matchesSelector(requirements, labels);
}

/** Whether an object is selected by its fields. */
export type FieldFilter = (object: KubernetesObject) => boolean;

/**
 * Reads a field selector: `a.b=c`, `a.b==c`, `a.b!=c`, with commas between. A field that is not
 * there is the empty string, as on the server.
 *
 * @throws SelectorError
 */
export function parseFields(selector: string): FieldFilter {
  if (selector.trim() === "") return () => true;
  const terms = selector.split(",").map((part) => {
    const term = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(part);
    if (!term)
      throw new SelectorError(
        `field selector ${JSON.stringify(selector)}: ${JSON.stringify(part)} is not FIELD=VALUE`,
      );
    const [, path = "", operator, wanted = ""] = term;
    const steps = path.split(".");
    return (object: KubernetesObject) => (fieldText(object, steps) === wanted) === (operator !== "!=");
  });
  return (object) => terms.every((matches) => matches(object));
}

function fieldText(object: unknown, steps: readonly string[]): string {
  let at = object;
  for (const step of steps) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return "";
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return typeof at === "string" || typeof at === "number" || typeof at === "boolean" ? String(at) : "";
}
