import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { helpFor, overview } from "../../packages/cli/src/help.ts";
import { windlass } from "../../packages/cli/src/program.ts";

const page = fileURLToPath(new URL("../reference/cli.md", import.meta.url));
const block = (text: string) => `\`\`\`text\n${text.trim()}\n\`\`\``;

/** `npx vitest run docs/examples/cli-reference.test.ts --update` writes the page. */
test("the reference of the command line is what --help says", async () => {
  const { name, commands } = windlass;
  const sections = [
    "# The windlass command\n\n`npm install --save-dev @windlass/cli`, then `npx windlass`. This page is what `--help` prints.",
    block(overview(windlass)),
    ...commands.flatMap((one) => [`## windlass ${one.name}`, block(helpFor(`${name} ${one.name}`, one))]),
  ];
  await expect(`${sections.join("\n\n")}\n`).toMatchFileSnapshot(page);
});
