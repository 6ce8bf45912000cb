import type { Json } from "../json.ts";
import { listAt, objectAt, textAt, textsAt } from "../json-fields.ts";

/**
 * A label selector as Go's generated code prints it, which is what one column and one event show.
 */
export function goString(selector: Json): string {
  const labels = objectAt(selector, "matchLabels");
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}: ${textAt(labels, key)},`);
  const expressions = listAt(selector, "matchExpressions").map((each) => {
    const values = textsAt(each, "values").join(" ");
    return `LabelSelectorRequirement{Key:${textAt(each, "key")},Operator:${textAt(each, "operator")},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${pairs.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
