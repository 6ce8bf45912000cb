import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RotatingFile } from "./file.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-file-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function replace(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

test("a replaced file is noticed within ten seconds, and not read before", async () => {
  const clock = new ManualClock();
  const path = join(folder, "token");
  await replace(path, "one");
  const file = new RotatingFile(path, clock);
  const first = await file.read();
  expect(first.toString()).toBe("one");
  await replace(path, "two");
  await clock.advance(9_999);
  expect(await file.read()).toBe(first);
  await clock.advance(1);
  expect((await file.read()).toString()).toBe("two");
});

test("the same content is the same buffer, even if the file was written again", async () => {
  const clock = new ManualClock();
  const path = join(folder, "ca");
  await replace(path, "same");
  const file = new RotatingFile(path, clock);
  const first = await file.read();
  await replace(path, "same");
  await clock.advance(10_000);
  expect(await file.read()).toBe(first);
});

test("after invalidation the file is read at once", async () => {
  const path = join(folder, "invalidated");
  await replace(path, "one");
  const file = new RotatingFile(path, new ManualClock());
  await file.read();
  await replace(path, "two");
  file.invalidate();
  expect((await file.read()).toString()).toBe("two");
});

test("a file that vanished stands for its last content; one that never was is an error that names it", async () => {
  const clock = new ManualClock();
  const path = join(folder, "vanishing");
  const file = new RotatingFile(path, clock);
  await expect(file.read()).rejects.toMatchObject({
    code: "CREDENTIALS_FAILED",
    message: `${path}: there is no such file`,
  });
  await replace(path, "here");
  await file.read();
  await rm(path);
  await clock.advance(10_000);
  expect((await file.read()).toString()).toBe("here");
});
