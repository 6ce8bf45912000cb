/** One line of a result: what was measured, for us and for the peer, and how they compare. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  /** Absent where the peer has nothing to compare with. */
  readonly peer?: number;
  /** Which way is better. */
  readonly better: "less" | "more";
}

export interface Result {
  readonly name: string;
  readonly peer: string;
  readonly rows: readonly Row[];
  /** What a reader must know to judge the figures. */
  readonly notes?: readonly string[];
}

/** How many times as good as the peer: above 1 is better, whichever way better is. */
export function ratio({ ours, peer, better }: Row): number | undefined {
  if (peer === undefined || ours === 0 || peer === 0) return undefined;
  return better === "more" ? ours / peer : peer / ours;
}

export function print({ name, peer, rows, notes = [] }: Result): string {
  const cells = rows.map((row) => {
    const times = ratio(row);
    return [...figures(row), times === undefined ? "–" : `${times.toFixed(2)}×`];
  });
  const lines = table([[name, "windlass", peer, "better by"], ...cells]);
  return [lines, ...notes.map((note) => `  ${note}`)].join("\n");
}

/** What was measured, for us and for the peer, in words and with its unit. */
export function figures({
  what,
  ours,
  peer,
  unit,
}: Row): readonly [what: string, ours: string, peer: string] {
  return [what, `${format(ours)} ${unit}`, peer === undefined ? "–" : `${format(peer)} ${unit}`];
}

/** A table of Markdown, its first line the heading, with columns of one width each. */
export function table(cells: readonly (readonly string[])[]): string {
  const columns = cells[0]?.map((_, column) => column) ?? [];
  const widths = columns.map((column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  return lines.join("\n");
}

function format(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
