import { ManualClock, seededRandom } from "../../packages/clock/src/index.ts";
import { administrator, ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import type { ApiResponse } from "../../packages/control-plane/src/http/request.ts";
import { widgetDefinition } from "../differential/http/widget.ts";
import { type FuzzRequest, RequestFuzzer } from "./requests.ts";

/** A request that was not taken well. */
export interface Failure {
  readonly request: FuzzRequest;
  readonly status: number | "panic";
  /** For reading. */
  readonly what: string;
}

export interface Fuzzed {
  readonly failures: readonly Failure[];
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Words of failures that are the real server's own: it answers with 500 to these. */
const rightful = [
  "resourceVersion should not be set on objects to be created",
  "strconv.ParseUint",
  "field not declared in schema",
  "failed to create typed",
  "content is not a list",
  "Too large resource version",
  "unknown patch type",
  "expected a []interface {}",
];

/** Sends `count` requests to a control plane of its own. Waits are skipped: its clock only moves when asked. */
export async function fuzz(seed: number, count: number): Promise<Fuzzed> {
  const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
  const panics: unknown[] = [];
  await using plane = await ControlPlane.start({
    clock,
    random: seededRandom(seed),
    controllers: "none",
    onPanic: (error) => panics.push(error),
  });
  const send = async (request: FuzzRequest): Promise<ApiResponse> => {
    const answer = plane.handle({ ...request, peer: administrator, signal: new AbortController().signal });
    return await settled(answer, clock);
  };
  const definition = Buffer.from(JSON.stringify(widgetDefinition("fuzz.example.com")));
  const define: FuzzRequest = {
    method: "POST",
    url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    headers: { "content-type": "application/json" },
    body: definition,
  };
  const fuzzer = new RequestFuzzer(seed);
  const failures: Failure[] = [];
  const statuses = new Map<number, number>();
  for (let index = 0; index < count; index++) {
    // A request may well delete it.
    if (index % 500 === 0) await send(define);
    const request = fuzzer.next();
    const response = await send(request);
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    const text = readStart(response);
    const isOwnFault =
      response.status >= 500 && response.status !== 501 && !rightful.some((words) => text.includes(words));
    if (panics.length > 0 || isOwnFault) {
      const status = panics.length > 0 ? "panic" : response.status;
      failures.push({ request, status, what: describe(request, status, text, panics.splice(0)) });
    }
  }
  return { failures, statuses };
}

/** The answer, with the clock moved on for as long as the server waits for it. */
async function settled(answer: Promise<ApiResponse>, clock: ManualClock): Promise<ApiResponse> {
  let isDone = false;
  const done = answer.finally(() => {
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
  const stop = body({ write: (chunk) => chunks.push(chunk), end: () => undefined });
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
