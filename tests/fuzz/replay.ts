import { widgetDefinition } from "../differential/http/widget.ts";
import { isUnsupported } from "./expected-failures.ts";
import { objectOf, type ServerFailure } from "./fuzz.ts";
import type { RemoteServer } from "./remote.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** Of failures that read alike, so many are tried. */
const mostAlike = 12;
/** An exponent of this many digits costs a real server minutes. */
const exploding = /\de[+-]?\d{4,}/i;

export interface Replayed {
  readonly tried: number;
  /** Where the real server does not fail as the embedded one did. */
  readonly differences: readonly string[];
}

/**
 * Sends what failed on the embedded server to a real one, each request with the object it was about
 * in place, and compares the statuses. A connection that the real server drops is a failure too: it
 * panicked.
 */
export async function replay(real: RemoteServer, failures: readonly ServerFailure[]): Promise<Replayed> {
  const alike = new Map<string, number>();
  const differences: string[] = [];
  let tried = 0;
  for (const failure of failures) {
    const { request, status, text } = failure;
    const body = Buffer.from(request.body ?? []).toString("latin1");
    if (isUnsupported(status, text) || exploding.test(body) || exploding.test(request.url)) continue;
    const kind = `${request.method} ${status} ${text.replaceAll(/"[^"]*"|\d+/g, "").slice(0, 200)}`;
    const times = (alike.get(kind) ?? 0) + 1;
    alike.set(kind, times);
    if (times > mostAlike) continue;
    const answered = await replayOne(real, failure);
    if (answered === undefined) continue;
    tried++;
    if (status === "panic" || (answered !== status && answered !== 0)) {
      differences.push(`${failure.what}\n  real: ${answered}`);
    }
  }
  return { tried, differences };
}

/**
 * @returns the status; undefined if the real server does not take the object that the request is
 * about
 */
async function replayOne(
  real: RemoteServer,
  { request, object }: ServerFailure,
): Promise<number | undefined> {
  await real.sendJson("POST", definitions, widgetDefinition("fuzz.example.com"));
  const place = objectOf(request.url);
  if (place !== undefined) await clear(real, place);
  if (place !== undefined && object !== undefined) {
    const made = await real.sendJson("POST", place.slice(0, place.lastIndexOf("/")), asNew(object));
    if (made !== 201) return undefined;
  }
  const status = await real.send(request);
  if (place !== undefined) await clear(real, place);
  return status;
}

async function clear(real: RemoteServer, place: string): Promise<void> {
  // What every namespace and cluster needs stays.
  if (/\/(namespaces|nodes)\/[^/]*$/.test(place) && !/\/[abc]$/.test(place)) return;
  await real.sendJson("PATCH", place, { metadata: { finalizers: null } }, "application/merge-patch+json");
  await real.sendJson("DELETE", place, { gracePeriodSeconds: 0 });
}

/** An object as it can be created again. */
function asNew(object: object): object {
  const { metadata, ...rest } = object as { metadata: Record<string, unknown> };
  const {
    resourceVersion: _version,
    uid: _uid,
    creationTimestamp: _time,
    managedFields: _fields,
    ...kept
  } = metadata;
  return { ...rest, metadata: kept };
}

/** Takes away what the replay defined. */
export async function cleanUp(real: RemoteServer): Promise<void> {
  await real.sendJson("DELETE", `${definitions}/widgets.fuzz.example.com`, {});
}
