import { expect, test, vi } from "vitest";
import { recordingTerminal } from "./terminal.fixture.ts";
import { styler, withProgress } from "./terminal.ts";

const red = "\x1b[31mno\x1b[39m";

test.for([
  [{ isTTY: true }, red],
  [{ isTTY: false }, "no"],
  [{ isTTY: true, env: { NO_COLOR: "1" } }, "no"],
  [{ isTTY: true, env: { NO_COLOR: "" } }, red],
  [{ isTTY: false, env: { FORCE_COLOR: "1" } }, red],
  [{ isTTY: true, env: { FORCE_COLOR: "1", NO_COLOR: "1" } }, "no"],
] as const)("colours are for people who want them: %j", ([options, shown]) => {
  const terminal = recordingTerminal(options);
  expect(styler(terminal, terminal.stdout)("red", "no")).toBe(shown);
});

test("what takes over a second says what is going on, and takes the line back", async () => {
  vi.useFakeTimers();
  try {
    const terminal = recordingTerminal({ isTTY: true });
    const work = Promise.withResolvers<string>();
    const done = withProgress(terminal, "Counting", () => work.promise);
    await vi.advanceTimersByTimeAsync(999);
    expect(terminal.complained()).toBe("");
    await vi.advanceTimersByTimeAsync(1);
    expect(terminal.complained()).toBe("Counting …");
    work.resolve("42");
    expect(await done).toBe("42");
    expect(terminal.complained()).toBe("Counting …\r\x1b[2K");
  } finally {
    vi.useRealTimers();
  }
});

test("a script sees no progress", async () => {
  const terminal = recordingTerminal();
  await withProgress(terminal, "Counting", () => new Promise((resolve) => setImmediate(resolve)));
  expect(terminal.complained()).toBe("");
});
