import { glob, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fieldTable, readmeOf, withTables } from "./field-table.ts";

const root = join(import.meta.dirname, "..");
const declared = (await Array.fromAsync(glob("operators/*/windlass.config.ts", { cwd: root }))).map((file) =>
  basename(dirname(file)),
);

test.for(declared.toSorted())(
  "the README's tables have the fields that a server takes: %s",
  async (operator) => {
    const readme = await readFile(readmeOf(operator), "utf8");
    // Otherwise: node scripts/field-table.ts OPERATOR
    expect(readme).toBe(await withTables(operator, readme));
  },
);

test("a table has every field with its type, its bounds and its default", () => {
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        required: ["image"],
        properties: {
          image: { type: "string", description: "What to | run" },
          size: { enum: ["sm", "md"], type: "string", default: "md" },
          scaling: {
            type: "object",
            default: { min: 0 },
            description: "How many",
            properties: { min: { type: "integer", format: "int32", minimum: 0, maximum: 9, default: 0 } },
          },
          rules: {
            type: "array",
            items: {
              type: "object",
              required: ["users"],
              properties: { users: { type: "array", items: { type: "string" } } },
            },
          },
        },
      },
    },
  };
  expect(fieldTable(schema).split("\n").slice(2)).toEqual([
    "| `image` | string | required | What to \\| run |",
    "| `size` | `sm`, `md` | `md` |  |",
    "| `scaling` |  |  | How many |",
    "| `scaling.min` | integer, 0 to 9 | `0` |  |",
    "| `rules[]` | list of objects |  |  |",
    "| `rules[].users` | list of strings | required |  |",
  ]);
});
