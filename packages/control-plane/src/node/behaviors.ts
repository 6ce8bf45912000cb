import { type Duration, milliseconds } from "@windlass/clock";
import type { Pod } from "@windlass/kinds/builtin";
import { namespaceOf } from "../json-fields.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import type { Stored } from "../storage/typed.ts";
import { Subscribers } from "../subscribers.ts";
import { type Behavior, type BehaviorKind, behaviorKinds, type TimedBehavior } from "./behavior.ts";
import { usualBehavior } from "./usual-behavior.ts";

/**
 * The annotations that set how a pod behaves. They have precedence over what a program has set.
 */
export const annotations = {
  /** One of the kinds of `Behavior`. */
  behavior: "node.windlass.dev/behavior",
  /** A duration: `1m30s`, `500ms`. */
  after: "node.windlass.dev/after",
  exitCode: "node.windlass.dev/exit-code",
  times: "node.windlass.dev/times",
  startAfter: "node.windlass.dev/start-after",
  readyAfter: "node.windlass.dev/ready-after",
  /** A duration, or `grace`. */
  linger: "node.windlass.dev/linger",
  container: "node.windlass.dev/container",
  /** The text that `kubectl logs` shows. */
  logs: "node.windlass.dev/logs",
} as const;

/**
 * Which pods: by a name, with `*` for any run of characters and with its namespace before a slash
 * if need be; by labels; or by a function.
 */
export type PodSelector =
  | string
  | { readonly namespace?: string; readonly labels?: { readonly [key: string]: string } }
  | ((pod: Pod) => boolean);

/** Images that cannot be pulled: a name, with `*` for any run of characters, or a pattern. */
export type ImageSelector = string | RegExp;

/**
 * Decides how each pod behaves: by its annotations, else by the rule that was added last, else by
 * its images, else by its owner and its command.
 */
export class Behaviors {
  #rules: { readonly matches: (pod: Stored<Pod>) => boolean; readonly behavior: TimedBehavior }[] = [];
  #missing: ((image: string) => boolean)[] = [];
  /** Notified when the behavior of pods may have changed. */
  readonly changes = new Subscribers<void>();

  /**
   * Pods that match behave so from now on, those that run already too. The returned function takes
   * it back.
   */
  on(which: PodSelector, behavior: Behavior | BehaviorKind): () => void {
    const rule = {
      matches: podMatcher(which),
      behavior: typeof behavior === "string" ? { kind: behavior } : timed(behavior),
    };
    this.#rules = [rule, ...this.#rules];
    this.changes.notify();
    return () => {
      this.#rules = this.#rules.filter((known) => known !== rule);
      this.changes.notify();
    };
  }

  /** These images cannot be pulled. The returned function makes them appear. */
  missingImages(...images: readonly ImageSelector[]): () => void {
    const matchers = images.map(imageMatcher);
    this.#missing = [...this.#missing, ...matchers];
    this.changes.notify();
    return () => {
      this.#missing = this.#missing.filter((known) => !matchers.includes(known));
      this.changes.notify();
    };
  }

  /** How a container of a pod behaves; without a container, how the pod as a whole does. */
  of(pod: Stored<Pod>, container?: string): TimedBehavior {
    const said =
      fromAnnotations(pod) ??
      this.#rules.find(({ matches }) => matches(pod))?.behavior ??
      usualBehavior(pod, container);
    if (container === undefined || said.container === undefined || said.container === container) return said;
    return { kind: "run" };
  }

  /**
   * Whether annotations or rules set how a pod behaves: then it is simulated, even where others run
   * as processes.
   */
  hasBehavior(pod: Stored<Pod>): boolean {
    return fromAnnotations(pod) !== undefined || this.#rules.some(({ matches }) => matches(pod));
  }

  isMissing(image: string): boolean {
    return this.#missing.some((matches) => matches(image));
  }
}

/** @throws RangeError for a time that is no duration. */
function timed({ after, startAfter, readyAfter, linger, ...rest }: Behavior): TimedBehavior {
  const inMilliseconds = (time: Duration, name: string) => milliseconds(time, `behavior: ${name}`);
  return {
    ...rest,
    ...(after === undefined ? {} : { afterMs: inMilliseconds(after, "after") }),
    ...(startAfter === undefined ? {} : { startAfterMs: inMilliseconds(startAfter, "startAfter") }),
    ...(readyAfter === undefined ? {} : { readyAfterMs: inMilliseconds(readyAfter, "readyAfter") }),
    ...(linger === undefined
      ? {}
      : { lingerMs: linger === "grace" ? linger : inMilliseconds(linger, "linger") }),
  };
}

/** What a pod's annotations say; undefined if they say nothing. Invalid values are ignored. */
export function fromAnnotations(pod: Stored<Pod>): TimedBehavior | undefined {
  const text = (name: string): string | undefined => pod.metadata.annotations?.[name];
  if (!Object.values(annotations).some((name) => text(name) !== undefined)) return undefined;
  const kind =
    behaviorKinds.find((known) => known === text(annotations.behavior)) ?? usualBehavior(pod, undefined).kind;
  const exitCode = wholeNumber(text(annotations.exitCode));
  const times = wholeNumber(text(annotations.times));
  const lingerText = text(annotations.linger);
  const lingerMs = lingerText === "grace" ? lingerText : duration(lingerText);
  const afterMs = duration(text(annotations.after));
  const startAfterMs = duration(text(annotations.startAfter));
  const readyAfterMs = duration(text(annotations.readyAfter));
  const container = text(annotations.container);
  const logs = text(annotations.logs);
  return {
    kind,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(times === undefined ? {} : { times }),
    ...(startAfterMs === undefined ? {} : { startAfterMs }),
    ...(readyAfterMs === undefined ? {} : { readyAfterMs }),
    ...(lingerMs === undefined ? {} : { lingerMs }),
    ...(container === undefined ? {} : { container }),
    ...(logs === undefined ? {} : { logs }),
  };
}

const prefix = "node.windlass.dev/";
const needsDuration = "is no duration, such as 1m30s or 500ms";
const needsNumber = "is no whole number";

/** What is wrong with the value of an annotation; undefined if it is valid. */
const faultOf = new Map<string, (text: string) => string | undefined>([
  [
    annotations.behavior,
    (text) =>
      behaviorKinds.some((kind) => kind === text) ? undefined : `is none of ${behaviorKinds.join(", ")}`,
  ],
  [annotations.after, (text) => (duration(text) === undefined ? needsDuration : undefined)],
  [annotations.startAfter, (text) => (duration(text) === undefined ? needsDuration : undefined)],
  [annotations.readyAfter, (text) => (duration(text) === undefined ? needsDuration : undefined)],
  [
    annotations.linger,
    (text) =>
      text === "grace" || duration(text) !== undefined ? undefined : `${needsDuration}, and not grace`,
  ],
  [annotations.exitCode, (text) => (wholeNumber(text) === undefined ? needsNumber : undefined)],
  [annotations.times, (text) => (wholeNumber(text) === undefined ? needsNumber : undefined)],
  [annotations.container, () => undefined],
  [annotations.logs, () => undefined],
]);

/** A sentence for each annotation of a pod that is ignored, so that a misspelling is noticed. */
export function ignoredAnnotations(pod: Stored<Pod>): string[] {
  return Object.entries(pod.metadata.annotations ?? {}).flatMap(([name, value]) => {
    if (!name.startsWith(prefix)) return [];
    const check = faultOf.get(name);
    if (!check) return [`${name} is not known, and ignored. There are ${[...faultOf.keys()].join(", ")}`];
    const fault = check(value);
    return fault === undefined ? [] : [`${name} is ignored: ${JSON.stringify(value)} ${fault}`];
  });
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `1m30s` in milliseconds; a bare number is seconds. */
function duration(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+(\.\d+)?(ms|s|m|h))+$|^\d+(\.\d+)?$/.test(text)) return undefined;
  if (/^[\d.]+$/.test(text)) return Number(text) * 1_000;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gy)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * (units[unit as string] ?? 0),
    0,
  );
}

function podMatcher(which: PodSelector): (pod: Stored<Pod>) => boolean {
  if (typeof which === "function") return which;
  if (typeof which === "string") {
    const pattern = wildcard(which.includes("/") ? which : `*/${which}`);
    return (pod) => pattern.test(`${namespaceOf(pod)}/${pod.metadata.name}`);
  }
  const { namespace, labels } = which;
  const matches = selectorMatcher({ matchLabels: { ...labels } });
  return (pod) => (namespace === undefined || namespaceOf(pod) === namespace) && matches(pod.metadata.labels);
}

function imageMatcher(image: ImageSelector): (image: string) => boolean {
  const pattern = typeof image === "string" ? wildcard(image) : image;
  return (name) => pattern.test(name);
}

function wildcard(text: string): RegExp {
  return new RegExp(
    `^${text
      .split("*")
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
      .join(".*")}$`,
  );
}

/** What a container has written. */
export function logsOf(behavior: Behavior, pod: Stored<Pod>, container: string): string {
  const { logs } = behavior;
  return typeof logs === "function" ? logs(pod, container) : (logs ?? "");
}
