import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a comparison found. */
export interface ComparisonCounts {
  /** Which comparison, such as `http`. */
  readonly name: string;
  /** How many answers were held against each other. */
  readonly compared: number;
  /** How many of them differ in a way that is not listed as known. */
  readonly differing: number;
  /** How often each listed reason was met. @default none */
  readonly known?: ReadonlyMap<string, number>;
}

const fileVariable = "DIFFERENTIAL_TALLY";

/**
 * Ends a comparison: says what it found, to people and to a script that runs several, and fails the
 * process where servers differ.
 */
export function conclude(tally: ComparisonCounts): void {
  process.stdout.write(`${line(tally)}\n`);
  const file = process.env[fileVariable];
  if (file !== undefined) {
    const known = Object.fromEntries(tally.known ?? []);
    appendFileSync(file, `${JSON.stringify({ ...tally, known })}\n`);
  } else
    for (const [reason, times] of tally.known ?? []) process.stdout.write(`${knownLine(reason, times)}\n`);
  process.exitCode = tally.differing === 0 ? 0 : 1;
}

/** One more time that a known reason was met. */
export function count(known: Map<string, number>, reason: string): void {
  known.set(reason, (known.get(reason) ?? 0) + 1);
}

/**
 * Collects what several comparisons, each a process of its own, conclude.
 *
 * @param work is given the environment that the comparisons must have
 * @returns a summary for people
 */
export async function collect(work: (environment: NodeJS.ProcessEnv) => Promise<void>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "differential-"));
  const file = join(folder, "tallies");
  try {
    appendFileSync(file, "");
    await work({ ...process.env, [fileVariable]: file });
    const lines = readFileSync(file, "utf8").split("\n");
    return summary(lines.filter((text) => text !== "").map(parse));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function parse(text: string): Required<ComparisonCounts> {
  const { known, ...rest } = JSON.parse(text) as ComparisonCounts & { known: Record<string, number> };
  return { ...rest, known: new Map(Object.entries(known)) };
}

function summary(tallies: readonly Required<ComparisonCounts>[]): string {
  const reasons = new Map<string, number>();
  for (const { known } of tallies) {
    for (const [reason, times] of known) reasons.set(reason, (reasons.get(reason) ?? 0) + times);
  }
  const sum = (part: "compared" | "differing") => tallies.reduce((all, tally) => all + tally[part], 0);
  const total = { name: "all", compared: sum("compared"), differing: sum("differing"), known: reasons };
  return [...tallies, total]
    .map(line)
    .concat([...reasons].map(([reason, times]) => knownLine(reason, times)))
    .join("\n");
}

function line({ name, compared, differing, known }: ComparisonCounts): string {
  const times = [...(known ?? new Map<string, number>()).values()].reduce((all, each) => all + each, 0);
  return `${name.padEnd(20)} ${String(compared).padStart(7)} compared, ${differing} differ, ${times} known differences`;
}

function knownLine(reason: string, times: number): string {
  return `  known, ${times} times: ${reason}`;
}
