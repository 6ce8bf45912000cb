import { runOurs } from "./ours.ts";
import { findPeer, median, runPeer } from "./peer.ts";
import type { QueueFigures, QueueSize } from "./queue-child.ts";
import type { Result, Row } from "./table.ts";

type Phases = { readonly [phase in "add" | "add_again" | "cycle"]: { readonly per_second: number } };

const size: QueueSize = { keys: 10_000, cycles: 500_000, workers: 4 };
const rounds = 3;

export const needs = [() => findPeer()];

/**
 * The queue alone: beside controller-runtime's priority queue, which does the same, and client-go's
 * plain work queue, which does less.
 */
export async function run(): Promise<Result> {
  const peer = await findPeer();
  const ours: QueueFigures[] = [];
  const theirs: { priorityqueue: Phases; workqueue: Phases }[] = [];
  const flags = ["--keys", size.keys, "--adds", size.cycles, "--workers", size.workers].map(String);
  for (let round = 0; round < rounds; round++) {
    ours.push((await runOurs("queue-child.ts", size)) as QueueFigures);
    theirs.push(((await runPeer(peer, ["queue", ...flags])) as { queues: (typeof theirs)[0] }).queues);
  }
  const rows = (["priorityqueue", "workqueue"] as const).flatMap((queue): Row[] => {
    const row = (what: string, of: (figures: QueueFigures) => number, phase: keyof Phases): Row => ({
      what: `${what}, beside the ${queue === "priorityqueue" ? "priority queue" : "plain work queue"}`,
      unit: "/s",
      ours: median(ours.map(of)),
      peer: median(theirs.map((figures) => figures[queue][phase].per_second)),
      better: "more",
    });
    return [
      row("adds", (figures) => figures.addsPerSecond, "add"),
      row("adds of keys that wait", (figures) => figures.repeatedAddsPerSecond, "add_again"),
      row("cycles of add, take and done", (figures) => figures.cyclesPerSecond, "cycle"),
    ];
  });
  return {
    name: "queue",
    peer: "controller-runtime",
    rows,
    notes: [
      `${size.keys} keys, ${size.cycles} operations of each sort, ${size.workers} workers; medians of ${rounds}, taken in turn.`,
      "The peer's workers run on all cores, ours on one.",
    ],
  };
}
