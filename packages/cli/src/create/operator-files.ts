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
    files.map(([path, text]) => [
      path,
      path === "package.json" ? withVersions(text, names.project, windlass) : text,
    ]),
  );
}

/**
 * The template is an operator for Gadgets of example.com. What follows from these names is replaced
 * in one go.
 */
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
