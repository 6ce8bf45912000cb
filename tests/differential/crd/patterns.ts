/**
 * What patterns mean: which the real server refuses, and in which words, and which texts the others
 * match. Usage: `patterns.ts [seed]`, with KUBECONFIG naming a real server.
 */
import { seededRandom } from "../../../packages/clock/src/index.ts";
import { defaultCrd, initialCrdStatus } from "../../../packages/control-plane/src/crd/defaults.ts";
import { servedKinds } from "../../../packages/control-plane/src/crd/served-kinds.ts";
import { validateCrd } from "../../../packages/control-plane/src/crd/validate.ts";
import { clone, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { Patterns } from "../../../packages/control-plane/src/patterns/index.ts";
import type { Cause } from "../../../packages/control-plane/src/status.ts";
import { finish } from "../../../packages/control-plane/src/steps.ts";
import { conclude } from "../tally.ts";
import { Cluster, CRDS } from "./cluster.ts";

const GROUP = "patterns.example.com";

const chosen = [
  "^(a+)+$",
  "[[:^alpha:]]+",
  "[[:alpha:][:digit:]]",
  "^*a",
  "$*a",
  "(a{500}){3}",
  "a{1000}",
  "a{1001}",
  "(a{10}){100}",
  "(a{10}){101}",
  "a{,2}",
  "a{2}{3}",
  "a**",
  "a+?+",
  "*",
  "a\\",
  "\\",
  "(?i)straße|ſ",
  "(?i)[k-l]",
  "(?U)a+",
  "(?s).",
  "(?m)^b$",
  "(?P<n>a)(?P<n>b)",
  "(?<n>a)",
  "(?P<1>a)",
  "(?P<n",
  "(?P=n)",
  "(?z)a",
  "(?",
  "(?=a)",
  "(?<=a)b",
  "(?>a)",
  "\\1",
  "\\8",
  "\\07",
  "\\x4",
  "\\x{110000}",
  "\\x41",
  "\\u0041",
  "\\pN",
  "\\p{Greek}",
  "\\p{^Greek}",
  "\\PN",
  "\\p{Nope}",
  "\\p",
  "\\C",
  "\\Z",
  "\\z",
  "\\A",
  "\\G",
  "\\bword\\b",
  "\\Ba",
  "\\Qa.b\\E",
  "\\Q",
  "\\E",
  "\\a\\f\\t\\n\\r\\v",
  "\\e",
  "\\-\\_\\ \\é",
  "[a-\\d]",
  "[\\d-z]",
  "[z-a]",
  "[]a]",
  "[^]a]",
  "[a",
  "[",
  "[]",
  "[^]",
  "[a-]",
  "[-a]",
  "[a-c-e]",
  "[[:nope:]]",
  "[[:word:]]",
  "[\\pL\\d]",
  "[^\\W]",
  "[\\b]",
  "(a",
  "a)",
  "()",
  "(|a)*",
  "(a|)+b",
  "|",
  "a||b",
  "x*",
  ".",
  "^$",
  "^\\s$",
  "^\\S+$",
  "é+",
  "^.{3}$",
  "^[^a]$",
  "😀{2}",
  "a{1,2}{3,4}",
  "(?i:A)b",
  "(?i)(?-i)A",
  "^a$|^b",
  "(^a|b$)",
  "a^b",
  "a$b",
];

const texts = [
  "",
  "a",
  "b",
  "ab",
  "aab",
  "aaaa",
  "A",
  "é",
  "ééé",
  "😀",
  "😀😀",
  "a\nb",
  "\n",
  "a.b",
  "a b",
  "word",
  "a-b",
  "1",
  "١",
  "α",
  "ſ",
  "STRASSE",
  "\u212a",
  "]",
  "-",
  "\u00a0",
  "\u2028",
  "x",
  "\t\n\r\v\f\u0007",
];

const pieces = [
  ..."()[]{}|*+?^$.\\-,:=!<>abAZ09_ dwsSDWbBzpLQE".split(""),
  "(?i)",
  "[:alpha:]",
  "{2}",
  "{1,3}",
  "é",
  "😀",
];

/** Unlikely patterns, of which about half are valid. */
function drawn(seed: number, count: number): string[] {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random.next() * limit);
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + below(8) }, () => pieces[below(pieces.length)]).join(""),
  );
}

function crdOf(patterns: readonly string[]): JsonObject & { metadata: { name: string } } {
  const properties = Object.fromEntries(
    patterns.map((pattern, index) => [`p${index}`, { type: "string", pattern }]),
  );
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `texts.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Cluster",
      names: { plural: "texts", kind: "Text" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } },
          },
        },
      ],
    },
  };
}

const show = (causes: readonly Cause[]): string[] =>
  causes.map(({ field, message }) => `${field}: ${message}`);
const causesOf = (body: Record<string, unknown>): Cause[] =>
  (body.details as { causes?: Cause[] } | undefined)?.causes ?? [];

const cluster = new Cluster();
const patterns = new Patterns();
const differences: string[] = [];
let compared = 0;

function compare(what: string, ours: readonly string[], real: readonly string[]): void {
  const more = ours.filter((line) => !real.includes(line));
  const less = real.filter((line) => !ours.includes(line));
  if (more.length + less.length === 0) return;
  differences.push(`${what}\n  ours: ${more.join("\n        ")}\n  real: ${less.join("\n        ")}`);
}

// An empty pattern is none.
const all = [...new Set([...chosen, ...drawn(Number(process.argv[2] ?? 1), 600)])];
const crd = crdOf(all);
const refused = causesOf((await cluster.send("POST", `${CRDS}?dryRun=All`, crd)).body);
const ours = clone(crd);
defaultCrd(ours);
ours.status = initialCrdStatus(ours);
const mine = await finish(validateCrd(patterns.matcher(), ours));
compare("which patterns are refused", show(mine), show(refused));
compared += all.length;

const invalid = new Set(refused.map(({ field }) => Number(/\[p(\d+)\]/.exec(field ?? "")?.[1])));
const valid = crdOf(all.filter((_pattern, index) => !invalid.has(index)));
await cluster.remove(valid.metadata.name);
const created = await cluster.serve(valid, `/apis/${GROUP}/v1/texts`);
if (created.status >= 300)
  differences.push(`the valid patterns were refused: ${String(created.body.message)}`);
else {
  try {
    const [kind] = servedKinds(created.body as JsonObject);
    const names = Object.keys(kind?.schema.schema.properties?.spec?.properties ?? {});
    for (const text of texts) {
      const object = {
        apiVersion: `${GROUP}/v1`,
        kind: "Text",
        metadata: { name: "x" },
        spec: Object.fromEntries(names.map((name) => [name, text])),
      };
      const answer = await cluster.send("POST", `/apis/${GROUP}/v1/texts?dryRun=All`, object);
      const causes = kind ? await finish(kind.validate(patterns.matcher(), clone(object))) : [];
      compare(JSON.stringify(text), show(causes), show(causesOf(answer.body)));
      compared += names.length;
    }
  } finally {
    await cluster.remove(valid.metadata.name);
  }
}
await cluster.close();
await patterns[Symbol.asyncDispose]();
for (const difference of differences) process.stdout.write(`${difference}\n\n`);
conclude({ name: "crd/patterns", compared, differing: differences.length });
