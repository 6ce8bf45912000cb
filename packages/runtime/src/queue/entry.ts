/**
 * What the queue knows of one key. Lives only while the key waits, runs or backs off: an idle key
 * has none.
 */
export class Entry<K> {
  /** What it is of; undefined while it is of nothing. */
  key: K | undefined;
  namespace: string;
  at: "ready" | "delayed" | "running" = "ready";
  priority: number;
  /** Since when it has been due, in monotonic milliseconds. */
  dueSince: number;
  /** When it was handed out, while it runs. */
  startedAt = 0;
  /** What was asked for while it ran: one more run. */
  again: { priority: number; readyAt: number } | undefined = undefined;

  /** Failures in a row, each counted once per backoff window. */
  failures = 0;
  /** When the open backoff window ends; undefined when none was opened. */
  retryAt: number | undefined = undefined;

  // Its place among those that are due (see ReadyOrder).
  band: Band<K> | undefined = undefined;
  lane: Lane<K> | undefined = undefined;
  bandSince = 0;
  laneNext: Entry<K> | undefined = undefined;
  lanePrevious: Entry<K> | undefined = undefined;
  bandNext: Entry<K> | undefined = undefined;
  bandPrevious: Entry<K> | undefined = undefined;

  // Its place among those that are not yet due (see DelayHeap).
  readyAt = 0;
  order = 0;
  heapIndex = -1;

  constructor(key: K, namespace: string, priority: number, dueSince: number) {
    this.key = key;
    this.namespace = namespace;
    this.priority = priority;
    this.dueSince = dueSince;
  }

  /** Forgets its key, and all that was known of it. It has been taken out of every order before. */
  clear(): void {
    this.key = undefined;
    this.namespace = "";
    this.again = undefined;
    this.failures = 0;
    this.retryAt = undefined;
  }
}

/** Those of one namespace within a priority, first in first out. Lanes of a band form a ring. */
export interface Lane<K> {
  readonly namespace: string;
  first: Entry<K> | undefined;
  last: Entry<K> | undefined;
  next: Lane<K>;
  previous: Lane<K>;
}

/**
 * All that wait with one priority: a ring of lanes to be fair between namespaces, and one line to
 * know the oldest.
 */
export interface Band<K> {
  readonly priority: number;
  readonly lanes: Map<string, Lane<K>>;
  /** The lane whose turn is next. */
  turn: Lane<K> | undefined;
  oldest: Entry<K> | undefined;
  newest: Entry<K> | undefined;
  size: number;
}
