import { ManualClock, seededRandom } from "../../packages/clock/src/index.ts";
import { administrator } from "../../packages/control-plane/src/authority.ts";
import { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import type { ApiResponse } from "../../packages/control-plane/src/http/request.ts";
import { widgetDefinition } from "../differential/http/widget.ts";
import { isRealServersOwn, isUnsupported } from "./expected-failures.ts";
import { type FuzzRequest, RequestFuzzer } from "./requests.ts";
import { collections } from "./vocabulary.ts";

/** A request to which the server answered that it failed itself. */
export interface ServerFailure {
  readonly request: FuzzRequest;
  readonly status: number | "panic";
  /** Why, as answered. */
  readonly text: string;
  /** The object the request was about, as it is stored; undefined if there was none. */
  readonly object: object | undefined;
  /** For reading. */
  readonly what: string;
}

export interface Fuzzed {
  /** Every answer of 500 and more, and every panic. */
  readonly failures: readonly ServerFailure[];
  /** Those of them that the real server is not known to give. */
  readonly unexpected: readonly ServerFailure[];
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<number, number>;
}

const define: FuzzRequest = {
  method: "POST",
  url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(widgetDefinition("fuzz.example.com"))),
};

/**
 * Sends `count` requests to a control plane of its own, up to eight of them at a time. Waits are
 * skipped: its clock only moves when asked.
 */
export async function fuzz(seed: number, count: number): Promise<Fuzzed> {
  const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
  const panics: unknown[] = [];
  await using plane = await ControlPlane.start({
    clock,
    random: seededRandom(seed),
    controllers: "none",
    onPanic: (error) => panics.push(error),
  });
  const send = (request: FuzzRequest): Promise<ApiResponse> =>
    plane.handle({ ...request, peer: administrator, signal: new AbortController().signal });
  const fuzzer = new RequestFuzzer(seed);
  const failures: ServerFailure[] = [];
  const statuses = new Map<number, number>();
  let sinceDefined = Number.POSITIVE_INFINITY;
  for (let sent = 0; sent < count; ) {
    // A request may well delete it.
    if (sinceDefined > 500) {
      await settled([send(define)], clock);
      sinceDefined = 0;
    }
    const atOnce = Math.min(count - sent, fuzzer.below(4) === 0 ? 8 : 1);
    const requests = Array.from({ length: atOnce }, () => fuzzer.next());
    sent += atOnce;
    sinceDefined += atOnce;
    const responses = await settled(requests.map(send), clock);
    const broken = panics.splice(0);
    for (const [index, response] of responses.entries()) {
      const request = requests[index] as FuzzRequest;
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const text = readStart(response);
      if (broken.length === 0 && response.status < 500) continue;
      const status = broken.length > 0 ? "panic" : response.status;
      const [about] = await settled([send(reading(request))], clock);
      const object =
        about?.status === 200 && typeof about.body === "string"
          ? (JSON.parse(about.body) as object)
          : undefined;
      failures.push({ request, status, text, object, what: describe(request, status, text, broken) });
    }
  }
  const unexpected = failures.filter(
    ({ status, text }) =>
      status === "panic" || !(isUnsupported(status, text) || isRealServersOwn(status, text)),
  );
  return { failures, unexpected, statuses };
}

/** Asks for the object that a request is about. */
function reading({ url }: FuzzRequest): FuzzRequest {
  const address = objectOf(url) ?? "/nothing";
  return { method: "GET", url: address, headers: {}, body: undefined };
}

/** Where the object is that an address is about, if it is about one. */
export function objectOf(url: string): string | undefined {
  const [path = ""] = url.split("?");
  const collection = collections.find((prefix) => path.startsWith(`${prefix}/`));
  const name = collection && path.slice(collection.length + 1).split("/")[0];
  return name ? `${collection}/${name}` : undefined;
}

/** The answers, with the clock moved on for as long as the server waits for one. */
async function settled(
  answers: readonly Promise<ApiResponse>[],
  clock: ManualClock,
): Promise<readonly ApiResponse[]> {
  let isDone = false;
  const done = Promise.all(answers).finally(() => {
    isDone = true;
  });
  for (let turn = 0; !isDone; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turn > 20) await clock.advance(1_000);
  }
  return await done;
}

/** What was answered; of a stream, what comes at once. */
function readStart({ body }: ApiResponse): string {
  if (typeof body === "string") return body;
  if (typeof body !== "function") return Buffer.from(body).toString("utf8");
  const chunks: Uint8Array[] = [];
  const stop = body({
    write: (chunk) => chunks.push(chunk),
    drained: () => undefined,
    end: () => undefined,
  });
  stop();
  return Buffer.concat(chunks).toString("utf8");
}

function describe(
  request: FuzzRequest,
  status: number | "panic",
  text: string,
  panics: readonly unknown[],
): string {
  const body = request.body === undefined ? "" : Buffer.from(request.body).toString("utf8").slice(0, 600);
  const trace = panics.map((error) => (error instanceof Error ? error.stack : String(error))).join("\n");
  return `${request.method} ${request.url} ${JSON.stringify(request.headers)}\n  ${body}\n  ${status}: ${text.slice(0, 300)}\n  ${trace}`;
}
