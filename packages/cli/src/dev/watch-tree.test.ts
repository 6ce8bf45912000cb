import { writeFileSync } from "node:fs";
import { appendFile, cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { watchTree } from "./watch-tree.ts";

const settleMs = 20;
let home: string;
let root: string;
let end: AbortController;
let changes: number;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "windlass-watch-"));
  root = join(home, "src");
  end = new AbortController();
  changes = 0;
});
afterEach(async () => {
  end.abort();
  await rm(home, { recursive: true, force: true });
});

function start(): void {
  watchTree(root, {
    settleMs,
    signal: end.signal,
    onChange: () => {
      changes++;
    },
    onError: (error) => {
      throw error;
    },
  });
}

/** Does something, which has to be reported. */
async function reported(act: () => Promise<unknown>): Promise<void> {
  // What was done before is one change, and has been reported.
  await delay(5 * settleMs);
  const before = changes;
  await act();
  await expect.poll(() => changes, { timeout: 5_000, interval: 5 }).toBeGreaterThan(before);
}

/** Saves as many editors do, which never leave half a file. */
async function saveByRename(file: string, text: string): Promise<void> {
  await writeFile(join(home, "new"), text);
  await rename(join(home, "new"), file);
}

test("every save is reported, however it is made", async () => {
  const file = join(root, "main.ts");
  await mkdir(root);
  await writeFile(file, "");
  start();
  for (let round = 0; round < 3; round++) {
    await reported(() => saveByRename(file, `renamed ${round}`));
    await reported(() => appendFile(file, "written in place"));
  }
  await reported(() => rm(file));
  await reported(() => writeFile(file, "is there again"));
});

test("folders that are new, and those in the place of others, are watched", async () => {
  await mkdir(root);
  start();
  await reported(() => mkdir(join(root, "a", "b"), { recursive: true }));
  await reported(() => writeFile(join(root, "a", "b", "one.ts"), ""));
  await cp(root, join(home, "copy"), { recursive: true });
  await reported(async () => {
    await rm(root, { recursive: true });
    await rename(join(home, "copy"), root);
  });
  await reported(() => appendFile(join(root, "a", "b", "one.ts"), "more"));
});

test("a folder that is not there yet is waited for", async () => {
  root = join(home, "config", "samples");
  start();
  await reported(() => mkdir(join(home, "config")));
  await reported(() => mkdir(root));
  await reported(() => writeFile(join(root, "one.yaml"), ""));
});

test("what is written beside it, or by others in it, is not reported", async () => {
  for (const name of ["node_modules", ".git"]) await mkdir(join(root, name), { recursive: true });
  start();
  await writeFile(join(home, "package.json"), "");
  for (const name of ["node_modules", ".git"]) await writeFile(join(root, name, "file"), "");
  await delay(5 * settleMs);
  expect(changes).toBe(0);
});

test("several writes in a row are one change", async () => {
  await mkdir(root);
  start();
  await reported(async () => {
    for (let index = 0; index < 20; index++) writeFileSync(join(root, `${index}.ts`), "");
  });
  await delay(5 * settleMs);
  expect(changes).toBe(1);
});

test("nothing is reported once it has ended", async () => {
  await mkdir(root);
  start();
  await writeFile(join(root, "main.ts"), "");
  end.abort();
  await delay(5 * settleMs);
  expect(changes).toBe(0);
});
