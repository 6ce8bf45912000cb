import type { Job, Pod } from "@windlass/kinds/builtin";
import { textOf } from "../../json.ts";
import type { Stored } from "../../storage/typed.ts";

/** Says, as label and as annotation, which index a pod of a Job works on. */
export const indexKey = "batch.kubernetes.io/job-completion-index";

/** Whether each pod of a Job has an index of its own. */
export function isIndexed(job: Stored<Job>): boolean {
  return job.spec.completionMode === "Indexed";
}

/** Whether each index of a Job may fail on its own, without the others. */
export function failsByIndex(job: Stored<Job>): boolean {
  return isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined;
}

/** The index a pod works on; undefined if it has none, or one that its Job has no longer. */
export function indexOf(job: Stored<Job>, pod: Stored<Pod>): number | undefined {
  const text = textOf(pod.metadata.annotations?.[indexKey]);
  if (!/^\d{1,6}$/.test(text)) return undefined;
  return Number(text) < (job.spec.completions ?? 0) ? Number(text) : undefined;
}

/** Indexes as a Job's status lists them: `0,2-5`. */
export function indexList(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (sorted[to + 1] === (sorted[to] as number) + 1) to++;
    const separator = to - from > 1 ? "-" : ",";
    parts.push(to === from ? String(sorted[from]) : `${sorted[from]}${separator}${sorted[to]}`);
    from = to + 1;
  }
  return parts.join(",");
}

/** No job has more indexes than this. */
const mostIndexes = 100_000;

/**
 * The indexes that such a list names, except for those beyond the limit. What is no list of indexes
 * names none.
 */
export function parseIndexes(text: string, limit = mostIndexes): number[] {
  return text
    .split(",")
    .filter((part) => /^\d{1,6}(-\d{1,6})?$/.test(part))
    .flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      const length = Math.min(Math.max(0, Math.min(to, limit - 1) - from + 1), mostIndexes);
      return Array.from({ length }, (_, offset) => from + offset);
    });
}
