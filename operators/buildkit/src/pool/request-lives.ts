import type { WaitingRequest } from "../request/request.ts";

/** What is looked at of a request. */
type Renewed = Pick<WaitingRequest, "metadata" | "spec">;

/** What the time is: on the wall, and by a clock that is never set. In milliseconds. */
export interface Now {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * How long a request counts that is not seen to be renewed. The replica that serves its client
 * renews it three times as often.
 */
const RENEWED_WITHIN_MS = 30_000;
/** How far clocks may be apart. Certificates are valid for as long before they are made. */
const MOST_SKEW_MS = 5 * 60_000;

/**
 * Decides which requests no client waits for any more. Their time is by the clock of the replica
 * that made them, which may be behind this one's: a request whose time has come counts for as long
 * as it is seen to be renewed. Otherwise none of a replica's requests would ever be served.
 */
export class RequestLives {
  /** By uid: the end that was seen last, and since when. */
  readonly #seen = new Map<string, { readonly waitUntil: string; readonly since: number }>();

  /** When a request is over unless it is renewed, on the wall. */
  endOf({ metadata, spec }: Renewed, now: Now): number {
    const uid = metadata.uid ?? metadata.name;
    const known = this.#seen.get(uid);
    const seen =
      known?.waitUntil === spec.waitUntil ? known : { waitUntil: spec.waitUntil, since: now.monotonic };
    this.#seen.set(uid, seen);
    const end = Date.parse(spec.waitUntil);
    const unrenewed = now.wall + seen.since + RENEWED_WITHIN_MS - now.monotonic;
    // One that was made by hand, for years, counts for no longer than others that are not renewed.
    return Math.min(Math.max(end, Math.min(unrenewed, end + MOST_SKEW_MS)), unrenewed + MOST_SKEW_MS);
  }

  /** Forgets all requests that are not among these. */
  keep(requests: readonly Renewed[]): void {
    const uids = new Set(requests.map(({ metadata }) => metadata.uid ?? metadata.name));
    for (const uid of this.#seen.keys()) if (!uids.has(uid)) this.#seen.delete(uid);
  }
}
