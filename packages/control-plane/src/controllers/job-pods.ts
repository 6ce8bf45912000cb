import { type JsonObject, textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { listAt, mapAt, namespaceOf } from "./objects.ts";
import { podFromTemplate, templateOf } from "./pods.ts";

const indexKey = "batch.kubernetes.io/job-completion-index";

/** Why a job fails as a whole. */
export interface JobFailure {
  readonly reason: string;
  readonly message: string;
}

/** A pod of a job; with an index, the pod of that index. */
export function jobPod(job: StoredObject, index: number | undefined, finalizer: string): JsonObject {
  const pod = podFromTemplate(templateOf(job), job);
  const metadata = pod.metadata as JsonObject;
  const { name, uid } = job.metadata;
  metadata.finalizers = [...((metadata.finalizers ?? []) as string[]), finalizer];
  const manual = field(job, "spec", "manualSelector") === true;
  metadata.labels = {
    ...mapAt(metadata, "labels"),
    ...(manual
      ? {}
      : {
          "batch.kubernetes.io/controller-uid": uid,
          "batch.kubernetes.io/job-name": name,
          "controller-uid": uid,
          "job-name": name,
        }),
    ...(index === undefined ? {} : { [indexKey]: String(index) }),
  };
  if (index === undefined) return pod;
  metadata.generateName = `${name}-${index}-`;
  metadata.annotations = { ...mapAt(metadata, "annotations"), [indexKey]: String(index) };
  const spec = pod.spec as JsonObject;
  spec.hostname = `${name}-${index}`;
  for (const part of ["initContainers", "containers"]) {
    for (const container of listAt(spec, part)) addIndexVariable(container);
  }
  return pod;
}

function addIndexVariable(container: JsonObject): void {
  const variables = listAt(container, "env");
  if (variables.some(({ name }) => name === "JOB_COMPLETION_INDEX")) return;
  const valueFrom = { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${indexKey}']` } };
  container.env = [...variables, { name: "JOB_COMPLETION_INDEX", valueFrom }];
}

/** The index a pod works on. */
export function indexOf(pod: StoredObject): number | undefined {
  const text = textOf(field(pod, "metadata", "annotations", indexKey));
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Indexes as a Job's status lists them: `0,2-5`. */
export function completedIndexes(indexes: readonly number[]): string {
  const sorted = [...new Set(indexes)].filter((index) => index >= 0).sort((a, b) => a - b);
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

/** The indexes that such a list names. What is no list of indexes names none. */
export function parseIndexes(text: string): number[] {
  return text
    .split(",")
    .filter((part) => /^\d{1,6}(-\d{1,6})?$/.test(part))
    .flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      const length = Math.min(Math.max(0, to - from + 1), mostIndexes);
      return Array.from({ length }, (_, offset) => from + offset);
    });
}

/** What the job's pod failure policy says about a failed pod: it counts, it does not, or the whole job fails. */
export function jobFailure(job: StoredObject, pod: StoredObject): "count" | "ignore" | JobFailure {
  for (const [number, rule] of listAt(job, "spec", "podFailurePolicy", "rules").entries()) {
    const why = matchesRule(rule, pod);
    if (why === undefined) continue;
    if (rule.action === "Ignore") return "ignore";
    if (rule.action !== "FailJob") return "count";
    return { reason: "PodFailurePolicy", message: `${why} matching FailJob rule at index ${number}` };
  }
  return "count";
}

function matchesRule(rule: JsonObject, pod: StoredObject): string | undefined {
  const place = `${namespaceOf(pod)}/${pod.metadata.name}`;
  const codes = field(rule, "onExitCodes") as JsonObject | undefined;
  if (codes) {
    const values = (codes.values ?? []) as number[];
    const statuses = [
      ...listAt(pod, "status", "containerStatuses"),
      ...listAt(pod, "status", "initContainerStatuses"),
    ];
    for (const status of statuses) {
      if (codes.containerName && codes.containerName !== status.name) continue;
      const code = field(status, "state", "terminated", "exitCode");
      if (typeof code !== "number" || code === 0) continue;
      if (values.includes(code) === (codes.operator === "In")) {
        return `Container ${textOf(status.name)} for pod ${place} failed with exit code ${code}`;
      }
    }
    return undefined;
  }
  for (const pattern of listAt(rule, "onPodConditions")) {
    const met = listAt(pod, "status", "conditions").some(
      ({ type, status }) => type === pattern.type && status === (pattern.status ?? "True"),
    );
    if (met) return `Pod ${place} has condition ${textOf(pattern.type)}`;
  }
  return undefined;
}
