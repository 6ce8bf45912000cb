import { expect, test } from "vitest";
import { ownPart } from "./definitions.ts";

const said = `node:internal/modules/run_main:107
    triggerUncaughtException(
    ^

file:///home/ada/shop/src/kind.ts:8
  spec: z.object({ image: z.string() )),
                                     ^
SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expected ',', got ')'
    at parseTypeScript (node:internal/modules/typescript:72:36)
    at load (file:///home/ada/shop/src/load.ts:3:1)
    at async file:///home/ada/shop/[eval1]:3:36
    at async ModuleLoader.import (node:internal/modules/esm/loader:638:5) {
  code: 'ERR_INVALID_TYPESCRIPT_SYNTAX'
}

Node.js v24.21.0
`;

test("what a program said when it could not be loaded is told without Node's own insides", () => {
  expect(ownPart(said)).toBe(`file:///home/ada/shop/src/kind.ts:8
  spec: z.object({ image: z.string() )),
                                     ^
SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expected ',', got ')'
    at load (file:///home/ada/shop/src/load.ts:3:1)`);
  expect(ownPart("a line of its own\n")).toBe("a line of its own");
});

test("what an error has besides its message stays whole", () => {
  const withFields = said.replace("_SYNTAX'\n", "_SYNTAX',\n  line: 8\n");
  expect(ownPart(withFields)).toMatch(/load\.ts:3:1\)\n\{\n {2}code: '[A-Z_]+',\n {2}line: 8\n\}$/);
});
