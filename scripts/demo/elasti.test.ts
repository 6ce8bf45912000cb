import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test.runIf(process.platform === "linux")(
  "npm start shows a server that sleeps, and that a request wakes, in its phases",
  { timeout: 120_000 },
  async () => {
    const main = join(import.meta.dirname, "main.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [main, "--exit-when-ready", "elasti"]);
    const asleep = stdout.indexOf("web: Asleep");
    expect(stdout.indexOf("answered by web-")).toBeLessThan(asleep);
    const woken = stdout.slice(asleep);
    expect(woken).toMatch(/answered by web-\S+ after \d+ ms/);
    for (const words of [
      "the operator was notified after",
      "a pod was ready after",
      "it began to answer after",
    ])
      expect(woken).toMatch(new RegExp(`cold start +${words} \\d+ ms`));
  },
);
