import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Calls that change a collection. */
const changing = "set|add|delete|clear|push|pop|shift|unshift|splice|sort|fill";

/**
 * The names of what a module keeps and changes: `let`, weak collections, and constants that the
 * same file changes. Two instances of anything in one process share it, so it belongs into an
 * object that is handed around.
 */
function mutableState(text: string): string[] {
  const names: string[] = [];
  for (const [, keyword = "", name = "", rest = ""] of text.matchAll(
    /^(?:export )?(let|var|const) ([\w$]+)(.*)$/gm,
  )) {
    const isWeak = /= new Weak(Map|Set|Ref)\b/.test(rest);
    const isChanged = new RegExp(
      `(?<![\\w$.])${name}(\\.(${changing})\\(|(\\.(?!lastIndex)[\\w$]+|\\[[^\\]]+\\])\\s*(=(?![=>])|\\+\\+|--|[-+*/|&?]{1,2}=))`,
    ).test(text);
    if (keyword !== "const" || isWeak || isChanged) names.push(name);
  }
  return names;
}

/**
 * Why state may stay in a module:
 *
 * - `memo`: it remembers what a pure function makes of its argument. No instance can tell whether
 *   another has asked before.
 * - `loaded`: code or recorded data that is loaded once.
 * - `names`: it numbers things, so that no two have the same name.
 * - `program`: it is the program itself, of which a process has one.
 * - `marks`: it tags values of a library that has no place for tags.
 */
type Reason = "memo" | "loaded" | "names" | "program" | "marks";

const allowed: { readonly [file: string]: { readonly [name: string]: Reason } } = {
  "operators/buildbarn/src/main.ts": { operator: "program" },
  "operators/elasti/src/main.ts": { running: "program" },
  "operators/elasti/src/resolver/http1/syntax.ts": { kinds: "loaded" },
  "packages/client/src/network/request-head.ts": { lastLines: "memo" },
  "packages/client/src/protobuf/message-types.ts": { messages: "loaded", loading: "loaded" },
  "packages/control-plane/src/admission/policy/plugin.ts": { compilations: "memo" },
  "packages/control-plane/src/admission/webhooks/caller.ts": { compiled: "memo" },
  "packages/control-plane/src/cel/declare.ts": { resources: "memo", unique: "names" },
  "packages/control-plane/src/controllers/ownership.ts": { matchers: "memo" },
  "packages/control-plane/src/crd/rule-review.ts": { cel: "loaded" },
  "packages/control-plane/src/crd/schema-shape.ts": { seen: "memo" },
  "packages/control-plane/src/http/representation.ts": { form: "loaded" },
  "packages/control-plane/src/kinds/builtin.ts": { builtin: "loaded" },
  "packages/kinds/src/go-types.ts": { known: "memo" },
  "packages/control-plane/src/kinds/schemas.ts": { linked: "memo", names: "memo" },
  "packages/control-plane/src/merge/fields-v1.ts": { written: "memo" },
  "packages/control-plane/src/merge/typed.ts": { roots: "memo", plain: "memo", preserving: "memo" },
  "packages/control-plane/src/openapi/gnostic.ts": { byNumber: "memo" },
  "packages/control-plane/src/protobuf/encode.ts": { descending: "memo" },
  "packages/control-plane/src/schema/defaults.ts": { withDefaults: "memo" },
  "packages/control-plane/src/schema/embedded.ts": { withEmbedded: "memo" },
  "packages/control-plane/src/schema/list-types.ts": { withUniqueLists: "memo" },
  "packages/control-plane/src/schema/node.ts": { nodes: "memo" },
  "packages/control-plane/src/schema/structural.ts": { compiled: "memo" },
  "packages/control-plane/src/schema/validate.ts": { checks: "memo" },
  "packages/runtime/src/cache/stored-object.ts": { seenLabels: "memo" },
  "packages/runtime/src/resource/conversion.ts": { schemas: "memo" },
  "packages/runtime/src/resource/markers.ts": { marks: "marks" },
};

async function found(): Promise<{ [file: string]: string[] }> {
  const state: { [file: string]: string[] } = {};
  for await (const file of glob(["packages/*/src/**/*.ts", "operators/*/*.ts", "operators/*/src/**/*.ts"], {
    cwd: root,
  })) {
    if (/\.(test|fixture)\.ts$/.test(file)) continue;
    const text = await readFile(join(root, file), "utf8");
    const names = mutableState(text);
    if (names.length > 0) state[file.replaceAll("\\", "/")] = names;
  }
  return state;
}

test("the check sees variables, weak maps, and constants that are changed", () => {
  const text = [
    "let count = 0;",
    "const known = new WeakMap<object, string>();",
    "const listeners = new Set<string>();",
    "const options = { verbose: false };",
    "const names = new Set([1]);",
    "listeners.add('x');",
    "options.verbose = true;",
    "if (names.has(1) && options.verbose === true) count++;",
  ].join("\n");
  expect(mutableState(text)).toEqual(["count", "known", "listeners", "options"]);
});

test("no module keeps state that two instances would share", async () => {
  const state = await found();
  const unknown = Object.entries(state).flatMap(([file, names]) =>
    names.filter((name) => allowed[file]?.[name] === undefined).map((name) => `${file}: ${name}`),
  );
  expect(unknown, "hand it in instead").toEqual([]);
});

test("everything that is allowed is still there", async () => {
  const state = await found();
  const gone = Object.entries(allowed).flatMap(([file, names]) =>
    Object.keys(names)
      .filter((name) => !state[file]?.includes(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(gone, "to be taken off the list").toEqual([]);
});
