import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DataFile } from "./data-file.ts";
import { Store } from "./store.ts";
import type { Line } from "./writer.fixture.ts";

/**
 * A process that writes while the system fails it, call by call. `FAULT_STRIDE=1` tries every
 * single call; by default one in so many is.
 */
const stride = Number(process.env.FAULT_STRIDE ?? 17);
const sweepMs = 240_000 * Math.ceil(17 / stride);
const writer = fileURLToPath(new URL("./writer.fixture.ts", import.meta.url));
const canTrace = spawnSync("strace", ["-e", "trace=none", "true"]).status === 0;

let folder: string;
let path: string;
let traces: string;

beforeEach(() => {
  traces = mkdtempSync(join(tmpdir(), "traces-"));
  folder = mkdtempSync(join(tmpdir(), "faults-"));
  path = join(folder, "state");
});
afterEach(() => {
  for (const each of [folder, traces]) rmSync(each, { recursive: true });
});

interface Run {
  readonly lines: readonly Line[];
  readonly errors: string;
  readonly code: number | null;
  /** Whether there was such a call. */
  readonly hit: boolean;
}

function run(command: string, args: readonly string[]): Promise<Omit<Run, "hit">> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.err += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const lines = output.out
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Line);
      resolve({ lines, errors: output.err, code });
    });
  });
}

/**
 * Runs the writer with a fault at one of its system calls.
 *
 * @param fault as strace's `inject` takes it
 */
async function inject(calls: string, fault: string, ...args: readonly string[]): Promise<Run> {
  const trace = join(traces, "trace");
  const filter = ["-f", "-q", "-o", trace, "-e", `trace=${calls}`, "-e", `inject=${calls}:${fault}`];
  const ended = await run("strace", [...filter, process.execPath, writer, path, ...args]);
  return { ...ended, hit: /\(INJECTED\)|killed by SIGKILL/.test(readFileSync(trace, "utf8")) };
}

type State = Readonly<Record<string, number>>;

/** The state after each of the writes that were kept, the empty one first. */
function statesOf(lines: readonly Line[]): State[] {
  const states: State[] = [{}];
  for (const line of lines) {
    if (line.at !== "kept") continue;
    const { [line.key]: _gone, ...others } = states.at(-1) ?? {};
    states.push(line.write === undefined ? others : { ...others, [line.key]: line.write });
  }
  return states;
}

function found(): { readonly state: State; readonly revision: number } {
  const data = DataFile.open(path, () => ({ authority: { certificate: "", key: "" }, tokenKey: "" }));
  try {
    const store = new Store({ journal: data });
    const entries = [...store.entries("things")].map(({ key, object }) => [key, object.write as number]);
    return { state: Object.fromEntries(entries) as State, revision: store.revision };
  } finally {
    data.close();
  }
}

function latestRevision(lines: readonly Line[]): number {
  return Math.max(0, ...lines.map((line) => (line.at === "kept" ? line.revision : 0)));
}

/**
 * What holds of a process that was not killed: a refused write is invisible, a kept one is kept.
 */
function checkEnd({ lines }: Omit<Run, "hit">): void {
  const kept = lines.filter((line) => line.at === "kept");
  const end = lines.find((line) => line.at === "end");
  const last = statesOf(lines).at(-1);
  expect(end?.state).toEqual(last);
  expect(end?.told).toEqual(kept.map(({ revision }) => revision).filter((revision) => revision > 0));
  expect(end?.told).toEqual(end?.told.toSorted((a, b) => a - b));
  const after = found();
  expect(after.state).toEqual(last);
  expect(after.revision).toBeGreaterThanOrEqual(latestRevision(lines));
}

/**
 * Tries a fault at call after call, until there are no more calls.
 *
 * @param attempt returns whether there was such a call
 */
async function sweep(attempt: (call: number) => Promise<boolean>, step = stride): Promise<void> {
  for (let call = 1 + Math.floor(step / 2); ; call += step) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    if (!(await attempt(call))) return;
  }
}

test.runIf(canTrace).for(["pwrite64", "fsync", "ftruncate", "link", "unlink"])(
  "a process that is killed at any %s has lost nothing it acknowledged",
  { timeout: sweepMs },
  async (calls) => {
    // The writer always writes the same.
    const undisturbed = await run(process.execPath, [writer, path, "12", "3000"]);
    const states = statesOf(undisturbed.lines);
    await sweep(
      async (call) => {
        const { lines, hit } = await inject(calls, `signal=KILL:when=${call}`, "12", "3000");
        const { state, revision } = found();
        const kept = lines.filter(({ at }) => at === "kept").length;
        // Of the write under way, all or nothing.
        expect([states[kept], states[kept + 1]]).toContainEqual(state);
        expect(revision).toBeGreaterThanOrEqual(latestRevision(lines));
        return hit;
      },
      calls === "pwrite64" ? stride : 1,
    );
  },
);

test.runIf(canTrace).for([
  ["ENOSPC", "DATA_FILE_FULL"],
  ["EIO", "DATA_FILE_FAILED"],
])(
  "a write that fails with %s is refused and stays invisible, and the next one is kept",
  { timeout: sweepMs },
  async ([error = "", code = ""]) => {
    let refused = 0;
    await sweep(async (call) => {
      const outcome = await inject("pwrite64", `error=${error}:when=${call}`, "12", "3000");
      const { lines } = outcome;
      if (lines.some(({ at }) => at === "open")) {
        checkEnd(outcome);
        for (const line of lines) if (line.at === "refused") expect(line.code).toBe(code);
        refused += lines.filter(({ at }) => at === "refused").length;
        expect(lines.filter(({ at }) => at === "refused").length).toBeLessThanOrEqual(1);
      } else {
        // It did not even start, and has said why; there is no file, or a whole one.
        expect(outcome.code).not.toBe(0);
        expect(found().state).toEqual({});
      }
      return outcome.hit;
    });
    expect(refused).toBeGreaterThan(0);
  },
);

test.runIf(canTrace)(
  "a disk that stays full refuses every write, and keeps those before",
  async () => {
    const outcome = await inject("pwrite64", "error=ENOSPC:when=45+", "30", "3000");
    const refused = outcome.lines.filter((line) => line.at === "refused");
    expect(refused.length).toBeGreaterThan(5);
    expect(new Set(refused.map(({ revision }) => revision)).size).toBe(1);
    checkEnd(outcome);
  },
  30_000,
);

test.runIf(canTrace)(
  "a disk that does not confirm is found out at the start, and never loses what was kept",
  async () => {
    const outcomes = { started: 0, refusedToStart: 0 };
    // Enough for checkpoints, which are what waits for the disk later on.
    await sweep(
      async (call) => {
        const outcome = await inject("fsync", `error=EIO:when=${call}`, "350", "60000");
        if (outcome.lines.length === 0) {
          outcomes.refusedToStart++;
          expect(outcome.errors).toMatch(/DataFileError|EIO/);
          expect(found().state).toEqual({});
        } else {
          if (outcome.hit) outcomes.started++;
          checkEnd(outcome);
        }
        return outcome.hit;
      },
      Math.min(stride, 2),
    );
    expect(outcomes.started).toBeGreaterThan(1);
    expect(outcomes.refusedToStart).toBeGreaterThan(0);
  },
  sweepMs,
);

test.runIf(canTrace)(
  "a file that cannot be put in its place leaves nothing behind",
  async () => {
    const outcome = await inject("link", "error=EPERM:when=1", "3", "10");
    expect(outcome.errors).toContain("EPERM");
    expect(readdirSync(folder)).toEqual([]);
  },
  30_000,
);

test.runIf(process.platform !== "win32")(
  "a file that cannot grow takes part of a write, and refuses all of it",
  async () => {
    const script = 'ulimit -f 300 && exec "$0" "$@"';
    const outcome = await run("sh", ["-c", script, process.execPath, writer, path, "200", "3000"]);
    const refused = outcome.lines.filter((line) => line.at === "refused");
    expect(refused.length).toBeGreaterThan(5);
    expect(outcome.lines.filter((line) => line.at === "kept").length).toBeGreaterThan(5);
    checkEnd(outcome);
  },
  30_000,
);
