import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { LeakReport } from "./leaks.fixture.ts";

/**
 * One control plane that is not let go costs the better part of a megabyte; compiled code and
 * caches settle within a few.
 */
const toleratedBytes = 6 * 2 ** 20;

test("200 control planes in a row and 20 at once leave nothing behind", { timeout: 300_000 }, async () => {
  const program = join(import.meta.dirname, "leaks.fixture.ts");
  // It ends by itself, which no process does that still has a socket, a server or a timer.
  const folder = await mkdtemp(join(tmpdir(), "leaks-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--expose-gc", program], {
    timeout: 290_000,
    env: { ...process.env, TMPDIR: folder },
  });
  expect(stderr).toBe("");
  const { before, oneByOne, atOnce } = JSON.parse(stdout) as LeakReport;
  for (const after of [oneByOne, atOnce]) {
    expect(after.resources).toEqual(before.resources);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    expect(after.threads).toBeLessThanOrEqual(before.threads);
    expect(after.temporaryFiles).toEqual([]);
    expect(after.heapBytes - before.heapBytes).toBeLessThan(toleratedBytes);
    expect(after.externalBytes - before.externalBytes).toBeLessThan(toleratedBytes);
  }
});
