import type { OperatorNames } from "./names.ts";

/** A new operator's files by their path: the template's, with its own names. */
export function operatorFiles(
  template: ReadonlyMap<string, string>,
  names: OperatorNames,
  windlass: string,
): ReadonlyMap<string, string> {
  const files = [...template].map(([path, text]): [string, string] => [
    renamed(path, names),
    renamed(text, names),
  ]);
  return new Map(
    files.map(([path, text]) => {
      if (path === "package.json") return [path, withVersions(text, names.project, windlass)];
      if (path === "config/rbac.yaml") return [path, withRulesSorted(text)];
      return [path, text];
    }),
  );
}

/** The template is an operator for Gadgets of example.com. What follows from these names is replaced in one go. */
function renamed(text: string, names: OperatorNames): string {
  const replacements: Readonly<Record<string, string>> = {
    "gadget-operator": names.operator,
    "gadget-system": names.namespace,
    gadgetController: `${names.variable}Controller`,
    gadgets: names.plural,
    Gadget: names.kind,
    gadget: names.singular,
    "example.com": names.group,
  };
  const words = Object.keys(replacements).map((word) => word.replaceAll(".", "\\."));
  return text.replaceAll(new RegExp(words.join("|"), "g"), (word) => replacements[word] ?? word);
}

function withVersions(text: string, project: string, windlass: string): string {
  const ours = /("@windlass\/[^"]+": )"[^"]+"/g;
  return text
    .replace(/"name": "[^"]+"/, `"name": ${JSON.stringify(project)}`)
    .replaceAll(ours, `$1${JSON.stringify(windlass)}`);
}

/** `rbacFor` sorts rules by their group, and this group may come elsewhere than the template's. */
function withRulesSorted(text: string): string {
  const sorted = text.split("---\n").map((document) => {
    const [head, ...rules] = document.split(/^(?= {2}- apiGroups:$)/m);
    return [head, ...rules.toSorted((a, b) => compare(ruleKey(a), ruleKey(b)))].join("");
  });
  return sorted.join("---\n");
}

/** What a rule is sorted by: its group, then its first resource. */
function ruleKey(rule: string): string {
  const [, group = "", resource = ""] = /- (\S+)\n {4}resources:\n {6}- (\S+)/.exec(rule) ?? [];
  return `${group.replaceAll("'", "")} ${resource}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
