import type { Output } from "./session.ts";

const blanks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/(resourceVersion\\?"?: ?\\?"?|Resource Version: +)\d+/g, "$1<version>"],
  [/\b(\d+d)?(\d+h)?(\d+m)?\d+(\.\d+)?m?s\b/g, "<age>"],
  [/\b\d+d\d*h?\b|\b\d+h\d*m?\b|\b\d+m\b/g, "<age>"],
  [/\b\d{1,3}(\.\d{1,3}){3}\b/g, "<address>"],
  [/https:\/\/(<address>|localhost):\d+/g, "https://<server>"],
  [/-[0-9a-f]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-<hash>-<suffix>"],
  [/-[bcdfghjklmnpqrstvwxz2456789]{7,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-<hash>-<suffix>"],
  [/(pod-template-hash[=:] ?"?)[a-z0-9]+/g, "$1<hash>"],
  [/\b(web|busy|api|cli)-[bcdfghjklmnpqrstvwxz2456789]{7,10}\b/g, "$1-<hash>"],
  [/(Successfully assigned \S+ to )\S+/g, "$1<node>"],
  [/\b(lab|windlass-node)\b/g, "<node>"],
  [/kube-api-access-\w{5}/g, "kube-api-access-<suffix>"],
  [/kubectl-edit-[\w.-]+/g, "kubectl-edit-<file>"],
  [/\/tmp\/[\w./-]+/g, "<file>"],
];

/**
 * Output with all that must differ between two servers made the same, and columns set apart by one
 * space.
 */
export function plain({ code, stdout, stderr }: Output): {
  code: number | null;
  stdout: string;
  stderr: string;
} {
  return { code, stdout: settle(stdout), stderr: settle(stderr) };
}

function settle(text: string): string {
  const blanked = blanks.reduce((before, [pattern, blank]) => before.replace(pattern, blank), text);
  return (
    blanked
      .split("\n")
      // What the client says about itself, such as that a watch it gave up has ended.
      .filter((line) => !/^[IWE]\d{4} \d\d:\d\d:/.test(line))
      .map((line) => line.replace(/\s{2,}/g, "  ").trimEnd())
      .join("\n")
  );
}
