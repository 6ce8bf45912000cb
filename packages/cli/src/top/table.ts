import { stripVTControlCharacters } from "node:util";
import type { Figures } from "./figures.ts";
import type { UnreadyObject } from "./unready.ts";

type Style = (style: "bold" | "dim" | "red" | "yellow" | "green", text: string) => string;

/** The most objects that are shown. */
const most = 10;
const manySeconds = 300;

/** The figures of an operator for a terminal. */
export function table(
  name: string,
  figures: Figures,
  unready: readonly UnreadyObject[],
  style: Style,
): string {
  const { replicas, silent, leader, controllers, caches } = figures;
  const all = replicas.length + silent.length;
  const head = [
    `${style("bold", name)}  ${all} ${all === 1 ? "replica" : "replicas"}`,
    leader === undefined ? style("red", "nobody leads") : `${leader} leads`,
  ].join(", ");
  const failures = controllers.flatMap((one) => one.failures.map((failure) => [one.name, failure] as const));
  return [
    head,
    columns(
      ["NO ANSWER", "REASON"],
      silent.map(({ replica, why }) => [replica, style("red", shortened(why))]),
      style,
    ),
    columns(
      [
        "CONTROLLER",
        "WAITING",
        "ACTIVE",
        "RECONCILES/S",
        "ERRORS/S",
        "P50",
        "P99",
        "QUEUE P99",
        "LONGEST",
        "WRITES/S",
        "SKIPPED/S",
      ],
      controllers.map((one) => [
        one.name,
        String(one.waiting),
        `${one.active}/${one.workers}`,
        one.reconciles.toFixed(1),
        one.errors > 0 ? style("red", one.errors.toFixed(1)) : "0.0",
        duration(one.medianSeconds),
        duration(one.p99Seconds),
        duration(one.queueP99Seconds),
        one.longestSeconds > manySeconds
          ? style("yellow", duration(one.longestSeconds))
          : duration(one.longestSeconds),
        one.writes.toFixed(1),
        one.skippedWrites.toFixed(1),
      ]),
      style,
    ),
    columns(
      ["FAILING", "REASON", "TIMES"],
      failures.map(([controller, { reason, count }]) => [controller, style("red", reason), String(count)]),
      style,
    ),
    columns(
      ["NOT READY", "OBJECT", "REASON", "MESSAGE"],
      unready.slice(0, most).map(({ kind, key, reason, message }) => [kind, key, reason, shortened(message)]),
      style,
    ),
    unready.length > most ? `  and ${unready.length - most} more` : "",
    columns(
      ["CACHE", "OBJECTS", "SIZE", "LAST CONTACT"],
      caches.map(({ kind, items, bytes, stalenessSeconds }) => [
        kind,
        String(items),
        `${(bytes / 1e6).toFixed(1)} MB`,
        stalenessSeconds > manySeconds
          ? style("red", `${duration(stalenessSeconds)} ago`)
          : `${duration(stalenessSeconds)} ago`,
      ]),
      style,
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

/** Columns as wide as they must be; nothing without rows. */
function columns(heads: readonly string[], rows: readonly (readonly string[])[], style: Style): string {
  if (rows.length === 0) return "";
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => visible(row[at] ?? ""))));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - visible(cell)))
      .join("  ")
      .trimEnd();
  return [style("dim", line(heads)), ...rows.map(line)].join("\n");
}

/** How wide a text is shown, without its colours. */
function visible(text: string): number {
  return stripVTControlCharacters(text).length;
}

function shortened(message: string): string {
  const [line = ""] = message.split("\n");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** In the unit in which it has few digits. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return "-";
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${(seconds * 1_000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`;
}
