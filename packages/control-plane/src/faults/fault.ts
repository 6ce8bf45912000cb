import type { Duration } from "@windlass/clock";
import { isTrue } from "../http/list-options.ts";
import { type ApiRequest, addressOf } from "../http/request.ts";
import { parsePath, type RequestInfo, type Verb, verbOf } from "../http/request-info.ts";
import type { KindTable } from "../kinds/index.ts";
import type { Requester } from "../registry/admission.ts";

/** Which requests a fault is for. Everything left out matches anything. */
export interface FaultTarget {
  readonly verbs?: readonly Verb[];
  /**
   * Plurals, with the group or without, and with a subresource for requests to that alone: `pods`,
   * `deployments.apps`, `pods/status`.
   */
  readonly resources?: readonly string[];
  readonly kinds?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  /** The name of the user that asks. */
  readonly user?: string;
}

/** A failure as the client sees it. */
export interface FaultError {
  readonly code: number;
  /** @default the reason that goes with the code */
  readonly reason?: string;
  /** @default what the real server says with the code */
  readonly message?: string;
  /** Sent as `Retry-After` too. */
  readonly retryAfterSeconds?: number;
}

/** Something that goes wrong with requests. */
export interface Fault extends FaultTarget {
  /** How many requests it strikes. @default all */
  readonly times?: number;
  /** How likely it strikes each. Drawn from the control plane's randomness. @default 1 */
  readonly probability?: number;
  /** Holds the request back first, by the control plane's clock. @default 0 */
  readonly delay?: Duration;
  /** Answers with a failure. */
  readonly error?: FaultError;
  /** Answers with a conflict. */
  readonly conflict?: true;
  /**
   * Answers gets and lists from the past: as it was when the fault was added, or `behind` writes
   * ago. Never from before what history is kept.
   */
  readonly stale?: true | { readonly behind: number };
  /** Takes the request and never answers, until the client gives up. */
  readonly halfOpen?: true;
  /**
   * Ends watches without a word, as a lost connection does: those that are open now, or with
   * `after`, each matching one that long after it began (or after now, for those that are open).
   */
  readonly dropWatches?: true | { readonly after: Duration };
}

/** What faults know of a request. */
export interface FaultedRequest {
  readonly verb: Verb;
  readonly info: RequestInfo;
  readonly kind: string | undefined;
  readonly user: string;
}

/** @returns undefined for requests that are not about resources: those never fail */
export function askedIn(
  request: Pick<ApiRequest, "method" | "url">,
  user: Requester | undefined,
  kinds: KindTable,
): FaultedRequest | undefined {
  const { pathname, searchParams } = addressOf(request);
  const info = parsePath(pathname);
  if (!info) return undefined;
  const watching = info.watchPath || (searchParams.has("watch") && isTrue(searchParams.get("watch") ?? ""));
  const verb = verbOf(request.method, info, watching);
  if (!verb) return undefined;
  const kind = kinds.byResource(info.group, info.version, info.plural)?.kind;
  return { verb, info, kind, user: user?.name ?? "" };
}

/** Whether a fault is for a request. */
export function strikes(target: FaultTarget, { verb, info, kind, user }: FaultedRequest): boolean {
  const { verbs, resources, kinds, namespace, name } = target;
  return (
    (verbs === undefined || verbs.includes(verb)) &&
    (resources === undefined || resources.some((resource) => names(resource, info))) &&
    (kinds === undefined || (kind !== undefined && kinds.includes(kind))) &&
    (namespace === undefined || namespace === info.namespace) &&
    (name === undefined || name === info.name) &&
    (target.user === undefined || target.user === user)
  );
}

function names(wanted: string, { group, plural, subresource }: RequestInfo): boolean {
  const [resource, sub] = wanted.split("/");
  if (sub !== undefined && sub !== subresource) return false;
  return resource === plural || resource === `${plural}.${group}`;
}
