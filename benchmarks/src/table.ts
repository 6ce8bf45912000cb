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
    return [
      row.what,
      `${format(row.ours)} ${row.unit}`,
      row.peer === undefined ? "–" : `${format(row.peer)} ${row.unit}`,
      times === undefined ? "–" : `${times.toFixed(2)}×`,
    ];
  });
  const all = [[name, "windlass", peer, "better by"], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  const lines = all.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  return [...lines, ...notes.map((note) => `  ${note}`)].join("\n");
}

function format(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
