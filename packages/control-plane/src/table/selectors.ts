import type { LabelSelector } from "@windlass/kinds/builtin";
import { itemsAt, namesAt, textAt, textsAt } from "./fields.ts";

/** Labels as `a=b,c=d`, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${textAt(labels, key)}`);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

/**
 * A label selector as `a=b,c in (d,e)`. An absent one selects nothing and reads `<none>`, as does
 * one that selects all.
 */
export function formatSelector(selector: LabelSelector | undefined): string {
  return selectorText(selector) || "<none>";
}

/** The same for those kinds whose tables show a selector that selects all as an empty text. */
export function selectorText(selector: LabelSelector | undefined): string {
  const requirements = namesAt(selector, "matchLabels").map((key) => ({
    key,
    text: `${key}=${textAt(selector, "matchLabels", key)}`,
  }));
  for (const expression of itemsAt(selector, "matchExpressions")) {
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
