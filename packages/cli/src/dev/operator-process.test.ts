import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { OperatorProcess } from "./operator-process.ts";

test("a process that cannot be started ends, and takes nobody with it", async () => {
  vi.spyOn(process, "execPath", "get").mockReturnValue("/nowhere/node");
  const { promise, resolve } = Promise.withResolvers<string>();
  const handlers = { onLine: () => undefined, onEnd: resolve, onKill: () => undefined };
  const operator = new OperatorProcess("main.ts", {}, handlers);
  vi.restoreAllMocks();
  expect(await promise).toContain("no process: spawn /nowhere/node ENOENT");
  await operator.stop();
});

test("one that drains for ten seconds is not killed, and one that never stops is", async () => {
  const folder = await mkdtemp(join(tmpdir(), "windlass-process-"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const main = join(folder, "main.mjs");
    await writeFile(
      main,
      'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1e6); console.log("up");',
    );
    const killed: number[] = [];
    const up = Promise.withResolvers<void>();
    const operator = new OperatorProcess(
      main,
      {},
      { onLine: () => up.resolve(), onEnd: () => undefined, onKill: (ms) => killed.push(ms) },
    );
    await up.promise;
    const stopped = operator.stop();
    vi.advanceTimersByTime(12_000);
    expect(killed).toEqual([]);
    vi.advanceTimersByTime(4_000);
    expect(killed).toEqual([15_000]);
    await stopped;
  } finally {
    vi.useRealTimers();
    await rm(folder, { recursive: true, force: true });
  }
});
