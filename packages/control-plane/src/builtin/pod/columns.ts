import type { ContainerState, ContainerStatus, Pod, PodTemplate } from "@windlass/kinds/builtin";
import type { Json, JsonObject } from "../../json.ts";
import { textAt as jsonText } from "../../json-fields.ts";
import { conditionStatus, containerCells, orNone } from "../../table/cells.ts";
import { millisOf, since } from "../../table/duration.ts";
import { countAt, isTrueAt, itemsAt, lengthAt, partAt, textAt } from "../../table/fields.ts";
import { name } from "../../table/metadata-cells.ts";
import { formatLabels } from "../../table/selectors.ts";

/** What a pass over container statuses gathers. */
interface ContainerSummary {
  reason: string;
  restarts: number;
  ready: number;
  /** When a container last ended before it was started again; empty where none did. */
  lastRestart: string;
}

/**
 * A pod's row: name, ready, status, restarts, age, address, node, nominated node, readiness gates.
 */
export function podCells(pod: Pod, now: number): Json[] {
  const sidecars = new Set(
    itemsAt(pod, "spec", "initContainers")
      .filter((container) => textAt(container, "restartPolicy") === "Always")
      .map((container) => textAt(container, "name")),
  );
  const { reason, restarts, ready, lastRestart } = summarise(pod, sidecars);
  const total = lengthAt(pod, "spec", "containers") + sidecars.size;
  const restarted = restarts !== 0 && lastRestart !== "" ? ` (${since(lastRestart, now)} ago)` : "";
  return [
    textAt(pod, "metadata", "name"),
    `${ready}/${total}`,
    reason,
    `${restarts}${restarted}`,
    since(textAt(pod, "metadata", "creationTimestamp"), now),
    orNone(textAt(itemsAt(pod, "status", "podIPs")[0], "ip")),
    orNone(textAt(pod, "spec", "nodeName")),
    orNone(textAt(pod, "status", "nominatedNodeName")),
    readinessGates(pod),
  ];
}

/** The condition a row of a pod that has ended carries; clients may hide such rows. */
export function podRowConditions(pod: JsonObject): JsonObject[] {
  const reason = jsonText(pod, "status", "phase");
  if (reason !== "Succeeded" && reason !== "Failed") return [];
  const message = reason === "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return [{ type: "Completed", status: "True", reason, message }];
}

function summarise(pod: Pod, sidecars: ReadonlySet<string>): ContainerSummary {
  const conditions = itemsAt(pod, "status", "conditions");
  const statusReason = textAt(pod, "status", "reason");
  const phase = textAt(pod, "status", "phase");
  const gated = conditions.some(
    (each) => textAt(each, "type") === "PodScheduled" && textAt(each, "reason") === "SchedulingGated",
  );
  const initial = gated ? "SchedulingGated" : statusReason || phase;

  const starting = tallyInitContainers(pod, sidecars, initial);
  const begun = !starting.initializing || conditionStatus(conditions, "Initialized") === "True";
  const tally = begun ? tallyContainers(pod, starting) : starting.all;
  if (textAt(pod, "metadata", "deletionTimestamp") === "") return tally;
  if (statusReason === "NodeLost") return { ...tally, reason: "Unknown" };
  if (phase === "Succeeded" || phase === "Failed") return tally;
  return { ...tally, reason: "Terminating" };
}

interface Starting {
  readonly initializing: boolean;
  /** Every init container counted. */
  readonly all: ContainerSummary;
  /** Only those that run beside the containers: what counts once the pod is initialised. */
  readonly sidecars: ContainerSummary;
}

function tallyInitContainers(pod: Pod, sidecarNames: ReadonlySet<string>, initial: string): Starting {
  const all: ContainerSummary = { reason: initial, restarts: 0, ready: 0, lastRestart: "" };
  const sidecars: ContainerSummary = { ...all };
  const total = lengthAt(pod, "spec", "initContainers");
  for (const [index, status] of itemsAt(pod, "status", "initContainerStatuses").entries()) {
    countRestarts(all, status);
    const isSidecar = sidecarNames.has(textAt(status, "name"));
    if (isSidecar) countRestarts(sidecars, status);
    const terminated = partAt(status, "state", "terminated");
    if (terminated !== undefined && countAt(terminated, "exitCode") === 0) continue;
    if (isSidecar && isTrueAt(status, "started")) {
      if (isTrueAt(status, "ready")) {
        all.ready++;
        sidecars.ready++;
      }
      continue;
    }
    const waiting = textAt(status, "state", "waiting", "reason");
    if (terminated !== undefined) all.reason = `Init:${endOf(terminated)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") all.reason = `Init:${waiting}`;
    else all.reason = `Init:${index}/${total}`;
    sidecars.reason = all.reason;
    return { initializing: true, all, sidecars };
  }
  return { initializing: false, all, sidecars };
}

function tallyContainers(pod: Pod, { sidecars }: Starting): ContainerSummary {
  const tally = { ...sidecars };
  let running = false;
  let failure = "";
  // From the last to the first: of several that have a reason, the first container's is shown.
  for (const status of itemsAt(pod, "status", "containerStatuses").toReversed()) {
    countRestarts(tally, status);
    const waiting = textAt(status, "state", "waiting", "reason");
    const terminated = partAt(status, "state", "terminated");
    if (waiting !== "") {
      tally.reason = waiting;
    } else if (terminated !== undefined) {
      tally.reason = endOf(terminated);
      if (countAt(terminated, "exitCode") !== 0) failure = tally.reason;
    } else if (isTrueAt(status, "ready") && partAt(status, "state", "running") !== undefined) {
      running = true;
      tally.ready++;
    }
  }
  if (tally.reason !== "Completed") return tally;
  const podReady = conditionStatus(itemsAt(pod, "status", "conditions"), "Ready") === "True";
  if (running && podReady) tally.reason = "Running";
  else if (failure !== "") tally.reason = failure;
  else if (running) tally.reason = "NotReady";
  return tally;
}

function countRestarts(tally: ContainerSummary, status: ContainerStatus): void {
  tally.restarts += countAt(status, "restartCount");
  const ended = textAt(status, "lastState", "terminated", "finishedAt");
  if ((millisOf(ended) ?? 0) > (millisOf(tally.lastRestart) ?? 0)) tally.lastRestart = ended;
}

/** How a container ended. */
type Terminated = NonNullable<ContainerState["terminated"]>;

function endOf(terminated: Terminated): string {
  const reason = textAt(terminated, "reason");
  if (reason !== "") return reason;
  const signal = countAt(terminated, "signal");
  return signal === 0 ? `ExitCode:${countAt(terminated, "exitCode")}` : `Signal:${signal}`;
}

function readinessGates(pod: Pod): string {
  const gates = itemsAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  const conditions = itemsAt(pod, "status", "conditions");
  const open = gates.filter((gate) => conditionStatus(conditions, textAt(gate, "conditionType")) === "True");
  return `${open.length}/${gates.length}`;
}

export function podTemplateCells(of: PodTemplate): Json[] {
  return [
    name(of),
    ...containerCells(partAt(of, "template", "spec")),
    formatLabels(partAt(of, "template", "metadata", "labels")),
  ];
}
