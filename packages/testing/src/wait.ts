import {
  type AnyKind,
  type Client,
  isGone,
  isNotFound,
  type ObjectKey,
  type ObjectOf,
} from "@windlass/client";
import { type Clock, systemClock } from "@windlass/clock";

export interface WaitOptions {
  /** @default 30_000 */
  readonly timeoutMs?: number;
  /** Whose time the timeout is in. @default the machine's */
  readonly clock?: Clock;
}

/** The world did not come to what a test waited for. Shows what it was like instead. */
export class WaitError extends Error {
  constructor(what: string, timeoutMs: number, last: unknown) {
    super(
      `${what} did not come about within ${timeoutMs} ms; last seen: ${JSON.stringify(last, undefined, 2) ?? "nothing"}`,
    );
    this.name = "WaitError";
  }
}

/**
 * Waits until `check` returns something for an object, and resolves to that. Looks at every state the server tells of, from the
 * present one on: no polling, no luck.
 *
 * @example
 * const address = await waitFor(client, Service, key, ({ spec }) => spec?.clusterIP);
 * @throws WaitError after the timeout, with the last state seen.
 */
export async function waitFor<K extends AnyKind, R>(
  client: Client,
  kind: K,
  key: ObjectKey,
  check: (object: ObjectOf<K>) => R | undefined | false,
  options: WaitOptions = {},
): Promise<R> {
  let last: unknown;
  const result = await observe(client, kind, key, options, (object) => {
    if (object === undefined) return undefined;
    last = object;
    return check(object) || undefined;
  });
  if (result === undefined) throw new WaitError(describe(kind, key), options.timeoutMs ?? 30_000, last);
  return result;
}

/**
 * Waits until an object is gone, finalizers and all.
 *
 * @example
 * await client.delete(WebApp, key);
 * await waitForDeletion(client, Deployment, key);
 * @throws WaitError after the timeout, with the last state seen.
 */
export async function waitForDeletion(
  client: Client,
  kind: AnyKind,
  key: ObjectKey,
  options: WaitOptions = {},
): Promise<void> {
  let last: unknown;
  const gone = await observe(client, kind, key, options, (object) => {
    last = object ?? last;
    return object === undefined ? true : undefined;
  });
  if (!gone) throw new WaitError(`the end of ${describe(kind, key)}`, options.timeoutMs ?? 30_000, last);
}

/**
 * Waits for a condition of the object's status, as `kubectl wait --for=condition=…` does. One that says which generation it is about
 * counts only once that is the present one: an old `Ready` does not answer for a new spec.
 *
 * @example
 * const app = await waitForCondition(client, WebApp, key, "Ready");
 * @throws WaitError after the timeout, with the last state seen.
 */
export function waitForCondition<K extends AnyKind>(
  client: Client,
  kind: K,
  key: ObjectKey,
  type: string,
  status: "True" | "False" | "Unknown" = "True",
  options: WaitOptions = {},
): Promise<ObjectOf<K>> {
  return waitFor(
    client,
    kind,
    key,
    (object) => {
      const { metadata, status: observed } = object as ObjectOf<K> & {
        metadata: { generation?: number };
        status?: { conditions?: { type: string; status: string; observedGeneration?: number }[] };
      };
      const condition = observed?.conditions?.find((candidate) => candidate.type === type);
      if (condition?.status !== status) return undefined;
      const upToDate =
        condition.observedGeneration === undefined || condition.observedGeneration === metadata.generation;
      return upToDate ? object : undefined;
    },
    options,
  );
}

function describe(kind: AnyKind, { namespace, name }: ObjectKey): string {
  return `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** Calls `look` with each state of one object until it answers, or time is up. */
async function observe<K extends AnyKind, R>(
  client: Client,
  kind: K,
  key: ObjectKey,
  options: WaitOptions,
  look: (object: ObjectOf<K> | undefined) => R | undefined,
): Promise<R | undefined> {
  const { timeoutMs = 30_000, clock = systemClock } = options;
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
    // The history is gone, or the definition is: the next list tells.
    if (!isGone(error) && !isNotFound(error)) throw error;
  }
  return undefined;
}
