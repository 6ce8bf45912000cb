import type { Json } from "../json.ts";
import { listAt, objectAt, textAt, textsAt, valueAt } from "../json-fields.ts";

/** Labels as `a=b,c=d`, or `<none>`. */
export function formatLabels(labels: Json | undefined): string {
  const pairs = Object.entries(objectAt(labels))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key]) => `${key}=${textAt(labels, key)}`);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

/**
 * A label selector as `a=b,c in (d,e)`. An absent one selects nothing and reads `<none>`, as does
 * one that selects all.
 */
export function formatSelector(selector: Json | undefined): string {
  if (valueAt(selector) === undefined || selector === null) return "<none>";
  return selectorText(selector) || "<none>";
}

/** The same for those kinds whose tables show a selector that selects all as an empty text. */
export function selectorText(selector: Json | undefined): string {
  const labels = objectAt(selector, "matchLabels");
  const requirements = Object.keys(labels).map((key) => ({ key, text: `${key}=${textAt(labels, key)}` }));
  for (const expression of listAt(selector, "matchExpressions")) {
    const key = textAt(expression, "key");
    const values = textsAt(expression, "values").sort();
    switch (textAt(expression, "operator")) {
      case "In":
        requirements.push({ key, text: `${key} in (${values.join(",")})` });
        break;
      case "NotIn":
        requirements.push({ key, text: `${key} notin (${values.join(",")})` });
        break;
      case "Exists":
        requirements.push({ key, text: key });
        break;
      case "DoesNotExist":
        requirements.push({ key, text: `!${key}` });
        break;
    }
  }
  return requirements
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map((requirement) => requirement.text)
    .join(",");
}
