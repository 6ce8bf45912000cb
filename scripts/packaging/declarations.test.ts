import { expect, test } from "vitest";
import { publishedDeclaration } from "./declarations.ts";

test("imports of files end with .js, those of packages stay", () => {
  const { text, imports } = publishedDeclaration(
    `import { z } from "zod";
export * from "./kind.ts";
export declare const load: () => Promise<typeof import("../cache/index.ts")>;
`,
  );
  expect(text).toBe(`import { z } from "zod";
export * from "./kind.js";
export declare const load: () => Promise<typeof import("../cache/index.js")>;
`);
  expect(imports).toEqual(["./kind.d.ts", "../cache/index.d.ts"]);
});

test("what a declaration needs of Node and of newer languages, it asks for", () => {
  const { text } = publishedDeclaration(
    "export interface Body extends AsyncDisposable {\n  read(): Buffer;\n}\n",
  );
  expect(text).toMatch(
    /^\/\/\/ <reference types="node" \/>\n\/\/\/ <reference lib="esnext.disposable" \/>\nexport interface Body/,
  );
});

test("a comment asks for nothing", () => {
  const emitted = "/** Like a Buffer, and as Disposable. */\nexport interface Body {}\n";
  expect(publishedDeclaration(emitted).text).toBe(emitted);
});
