import type { Json } from "../json.ts";
import { list, object, text, texts } from "./fields.ts";

/**
 * A label selector as Go's generated code prints it, which is what one column and one event show.
 */
export function goString(selector: Json): string {
  const labels = object(selector, "matchLabels");
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}: ${text(labels, key)},`);
  const expressions = list(selector, "matchExpressions").map((each) => {
    const values = texts(each, "values").join(" ");
    return `LabelSelectorRequirement{Key:${text(each, "key")},Operator:${text(each, "operator")},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${pairs.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
