import {
  type AnyKind,
  type Client,
  conditionOf,
  isGone,
  isNotFound,
  type KeyOf,
  type KubernetesObject,
  type ObjectKey,
  type ObjectOf,
} from "@windlass/client";
import { type Clock, type Duration, milliseconds, systemClock } from "@windlass/clock";
import { logTail } from "./recent-log.ts";
import { TestClient } from "./test-client.ts";

/**
 * On an embedded control plane, changes take milliseconds: shorter than runners' own
 * limits, whose errors show nothing.
 */
export const embeddedWaitTimeout = "10s";
/** How long a wait takes at most, by default. */
export const defaultWaitTimeout = "30s";

/** How long a wait takes, and what its failure shows. */
export interface WaitOptions {
  /**
   * How long to wait.
   *
   * @default "10s" on an embedded control plane, "30s" in a simulation and elsewhere
   */
  readonly timeout?: Duration;
  /** Whose time the timeout is in. @default the machine's */
  readonly clock?: Clock;
}

/** What a test waited for, and what there was instead. */
export interface WaitedFor {
  /** `Pod default/web`. */
  readonly subject: string;
  /** What was waited for: the check, or the condition. */
  readonly what: string;
  readonly timeoutMs: number;
  /** Its last state; undefined if it was never there. */
  readonly last: unknown;
  /** How that differs from what was waited for, where that is known. */
  readonly instead?: string | undefined;
  /** What the operators of the test logged last. */
  readonly operatorLog?: string | undefined;
}

/** Texts that are longer are shown by their beginning. */
const LONGEST_TEXT = 1_000;

/**
 * Leaves out of a message what hides the rest: who owns which fields, and most of what is very
 * long.
 */
function shown(key: string, value: unknown): unknown {
  if (key === "managedFields") return undefined;
  if (typeof value !== "string" || value.length <= LONGEST_TEXT) return value;
  return `${value.slice(0, LONGEST_TEXT)}… (${value.length} characters)`;
}

/**
 * The world did not come to what a test waited for. Says what that was, and shows what it was like
 * instead.
 */
export class WaitError extends Error {
  override readonly name = "WaitError";
  readonly waitedFor: WaitedFor;

  constructor(waitedFor: WaitedFor) {
    const { subject, what, timeoutMs, last, instead, operatorLog } = waitedFor;
    const found = instead === undefined ? "" : `: ${instead}`;
    const seen = JSON.stringify(last, shown, 2) ?? "nothing";
    super(
      `${subject}: ${what} did not come about within ${timeoutMs} ms${found}; last seen: ${seen}${logTail(operatorLog)}`,
    );
    this.waitedFor = waitedFor;
  }
}

/**
 * Waits until `check` returns something for an object, and resolves to that. Looks at every state
 * the server reports, from the present one on: no polling, no luck.
 *
 * @example
 * const address = await waitFor(client, Service, key, ({ spec }) => spec?.clusterIP);
 * @throws WaitError after the timeout, with the check and the last state seen.
 * @throws TypeError if the check is async: its promise would count as a result at once.
 */
export async function waitFor<K extends AnyKind, R>(
  client: Client,
  kind: K,
  key: KeyOf<K>,
  check: (object: ObjectOf<K>) => R | undefined | false,
  options: WaitOptions = {},
): Promise<R> {
  // The program's own text, without the spaces that lay it out.
  const what = String(check).replaceAll(/\s+/g, " ");
  return await waitForState(client, kind, key, { check, what, options });
}

/** What is waited for of an object's state. */
interface Wanted<K extends AnyKind, R> {
  readonly check: (object: ObjectOf<K>) => R | undefined | false;
  readonly what: string;
  /** Why a state is not it. */
  readonly instead?: (object: ObjectOf<K>) => string;
  readonly options: WaitOptions;
}

async function waitForState<K extends AnyKind, R>(
  client: Client,
  kind: K,
  key: ObjectKey,
  { check, what, instead, options }: Wanted<K, R>,
): Promise<R> {
  let last: ObjectOf<K> | undefined;
  const result = await observe(client, kind, key, options, (object) => {
    if (object === undefined) return undefined;
    last = object;
    const result = check(object) || undefined;
    if (result instanceof Promise)
      throw new TypeError(
        `${describe(kind, key)}: the check ${what} is async; check the object itself, or poll by the test runner's means`,
      );
    return result;
  });
  if (result !== undefined) return result;
  const timeoutMs = timeoutOf(client, options);
  throw new WaitError({
    subject: describe(kind, key),
    what,
    timeoutMs,
    last,
    instead: last && instead?.(last),
    operatorLog: operatorLogOf(client),
  });
}

/**
 * Waits until an object no longer exists, finalizers and all.
 *
 * @example
 * await client.delete(WebApp, key);
 * await waitForDeletion(client, Deployment, key);
 * @throws WaitError after the timeout, with the last state seen.
 */
export async function waitForDeletion<K extends AnyKind>(
  client: Client,
  kind: K,
  key: KeyOf<K>,
  options: WaitOptions = {},
): Promise<void> {
  let last: unknown;
  const gone = await observe(client, kind, key, options, (object) => {
    last = object ?? last;
    return object === undefined ? true : undefined;
  });
  const timeoutMs = timeoutOf(client, options);
  if (gone) return;
  throw new WaitError({
    subject: describe(kind, key),
    what: "its end",
    timeoutMs,
    last,
    operatorLog: operatorLogOf(client),
  });
}

/**
 * Waits for a condition of the object's status, as `kubectl wait --for=condition=…` does. One that
 * has an `observedGeneration` counts only once that is the present one: an old `Ready` does
 * not answer for a new spec.
 *
 * @example
 * const app = await waitForCondition(client, WebApp, key, "Ready");
 * @throws WaitError after the timeout, with the condition as it was, and the last state seen.
 */
export function waitForCondition<K extends AnyKind>(
  client: Client,
  kind: K,
  key: KeyOf<K>,
  type: string,
  status: "True" | "False" | "Unknown" = "True",
  options: WaitOptions = {},
): Promise<ObjectOf<K>> {
  return waitForState(client, kind, key, {
    what: `condition ${type}=${status}`,
    check: (object) => {
      const condition = conditionOf<Condition>(object as WithConditions, type);
      return condition?.status === status && isCurrent(condition, object) ? object : undefined;
    },
    instead: (object) => {
      const condition = conditionOf<Condition>(object as WithConditions, type);
      if (!condition) return `there is no condition ${type}`;
      const why = [condition.reason, condition.message].filter(Boolean).join(": ");
      const age = isCurrent(condition, object)
        ? ""
        : ` for generation ${condition.observedGeneration}, and the object is at ${generationOf(object)}`;
      return `it is ${condition.status}${age}${why === "" ? "" : ` (${why})`}`;
    },
    options,
  });
}

/** An object of any kind, as far as its conditions are concerned. */
interface WithConditions extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

function isCurrent({ observedGeneration }: Condition, object: KubernetesObject): boolean {
  return observedGeneration === undefined || observedGeneration === generationOf(object);
}

function generationOf({ metadata }: KubernetesObject): number | undefined {
  return metadata.generation;
}

function describe(kind: AnyKind, { namespace, name }: ObjectKey): string {
  return `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

function operatorLogOf(client: Client): string | undefined {
  return client instanceof TestClient ? String(client.operatorLog) : undefined;
}

function timeoutOf(client: Client, { timeout }: WaitOptions): number {
  const usual = client instanceof TestClient ? client.waitTimeout : defaultWaitTimeout;
  return milliseconds(timeout ?? usual, "timeout");
}

/** Calls `look` with each state of one object until it answers, or time is up. */
async function observe<K extends AnyKind, R>(
  client: Client,
  kind: K,
  key: ObjectKey,
  options: WaitOptions,
  look: (object: ObjectOf<K> | undefined) => R | undefined,
): Promise<R | undefined> {
  const { clock = systemClock } = options;
  const timeoutMs = timeoutOf(client, options);
  const timeout = new AbortController();
  const { signal } = timeout;
  const cancel = clock.schedule(timeoutMs, () => timeout.abort(new Error(`${timeoutMs} ms have passed`)));
  const selection = {
    fieldSelector: `metadata.name=${key.name}`,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    signal,
  };
  try {
    for (;;) {
      const { items, metadata } = await client.list(kind, selection);
      const found = look(items[0]);
      if (found !== undefined) return found;
      const version = metadata.resourceVersion ?? "0";
      const watched = await follow(client, kind, { ...selection, resourceVersion: version }, look);
      if (watched !== undefined) return watched;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    cancel();
  }
}

async function follow<K extends AnyKind, R>(
  client: Client,
  kind: K,
  options: Parameters<Client["watch"]>[1],
  look: (object: ObjectOf<K> | undefined) => R | undefined,
): Promise<R | undefined> {
  try {
    for await (const event of client.watch(kind, options)) {
      if (event.type === "ERROR") return undefined;
      if (event.type === "BOOKMARK") continue;
      const found = look(event.type === "DELETED" ? undefined : event.object);
      if (found !== undefined) return found;
    }
  } catch (error) {
    // The history or the definition no longer exists: the next list tells.
    if (!isGone(error) && !isNotFound(error)) throw error;
  }
  return undefined;
}
