import type { LabelSelector } from "@windlass/kinds/builtin";
import { itemsAt, namesAt, textAt, textsAt } from "./fields.ts";

/**
 * A label selector as Go's generated code prints it, which is what one column and one event show.
 */
export function goString(selector: LabelSelector): string {
  const pairs = namesAt(selector, "matchLabels")
    .sort()
    .map((key) => `${key}: ${textAt(selector, "matchLabels", key)},`);
  const expressions = itemsAt(selector, "matchExpressions").map((each) => {
    const values = textsAt(each, "values").join(" ");
    return `LabelSelectorRequirement{Key:${textAt(each, "key")},Operator:${textAt(each, "operator")},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${pairs.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
