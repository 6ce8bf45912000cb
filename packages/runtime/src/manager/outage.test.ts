import {
  Client,
  type Transport,
  TransportError,
  type TransportErrorCode,
  type TransportResponse,
} from "@windlass/client";
import { ManualClock } from "@windlass/clock";
import { ConfigMap } from "@windlass/kinds/builtin";
import fc from "fast-check";
import { expect, test } from "vitest";
import { controller } from "../controller/controller.ts";
import type { Logger } from "../logging/logger.ts";
import { noTracing } from "../reconcile/tracing.ts";
import { type LoggedLine, recordingLogger } from "../testing/recording-logger.ts";
import { manager } from "./manager.ts";
import { Outage, type Reach, step } from "./outage.ts";

async function* noBytes() {
  yield* [];
}

/** A server that answers with a status, or fails with a code. */
function watched() {
  const clock = new ManualClock();
  const lines: string[] = [];
  const keep = (level: string) => (given: object | string, message?: string) => {
    const { error } = given as { error?: string };
    lines.push([level, message, error].filter((part) => part !== undefined).join(": "));
  };
  const log: Logger = {
    debug: keep("debug"),
    info: keep("info"),
    warn: keep("warn"),
    error: keep("error"),
    child: () => log,
  };
  let answer: number | TransportErrorCode = 200;
  const server: Transport = {
    request: ({ method, path }) => {
      if (typeof answer === "string")
        return Promise.reject(new TransportError(answer, `${method} https://10.0.0.1:6443${path}: no luck`));
      return Promise.resolve({ status: answer, headers: {}, body: noBytes() });
    },
    close: () => Promise.resolve(),
  };
  const outage = new Outage(clock, log);
  const transport = outage.watch(server);
  const ask = async (now: number | TransportErrorCode, times = 1) => {
    answer = now;
    for (let time = 0; time < times; time++)
      await transport
        .request({ method: "GET", path: "/api/v1/pods?limit=500", headers: {} })
        .catch((error: unknown) => expect(error).toBeInstanceOf(TransportError));
  };
  return { clock, lines, outage, ask };
}

test("a server that goes is logged once, every minute, and once when it is back, with the count", async () => {
  const { clock, lines, outage, ask } = watched();
  await ask(200);
  for (const code of ["CONNECTION_RESET", "CONNECTION_REFUSED", "TIMEOUT_CONNECT"] as const)
    await ask(code, 10);
  expect(lines).toEqual([
    "error: the API server is out of reach; trying again until it is back: https://10.0.0.1:6443: no luck",
  ]);
  expect(outage.isOn).toBe(true);
  await clock.advance(60_000);
  await ask("CONNECTION_REFUSED", 5);
  expect(lines.slice(1)).toEqual([
    "error: the API server is still out of reach, after 60 s and 31 requests: https://10.0.0.1:6443: no luck",
  ]);
  await clock.advance(5_000);
  await ask(503);
  expect(lines.slice(2)).toEqual(["info: the API server answers again, after 65 s"]);
  expect(outage.isOn).toBe(false);
});

test("one request that fails is no outage", async () => {
  const { lines, ask } = watched();
  for (let round = 0; round < 5; round++) {
    await ask("CONNECTION_RESET");
    await ask(200);
  }
  expect(lines).toEqual([]);
});

test.for([401, "CERTIFICATE_EXPIRED", "CERTIFICATE_UNTRUSTED", "CLIENT_CERTIFICATE_REJECTED"] as const)(
  "%s does not pass, and is logged at the first request",
  async (answer) => {
    const { lines, ask } = watched();
    await ask(answer, 3);
    expect(lines).toHaveLength(1);
    await ask("CONNECTION_REFUSED", 3);
    expect(lines).toHaveLength(2);
  },
);

test("however requests end, an outage is logged before it is over, and no more than once a minute", () => {
  const codes = ["CONNECTION_REFUSED", "TIMEOUT_CONNECT"] as const;
  const events = fc.array(
    fc.tuple(fc.nat({ max: 20_000 }), fc.oneof(fc.constant("answered" as const), fc.constantFrom(...codes))),
  );
  fc.assert(
    fc.property(events, (happened) => {
      let state: Reach = { at: "up" };
      let now = 0;
      let isTold = false;
      let toldAt = Number.NEGATIVE_INFINITY;
      for (const [wait, what] of happened) {
        now += wait;
        const event =
          what === "answered"
            ? ({ type: "answered" } as const)
            : ({ type: "failed", cause: { code: what, message: "" } } as const);
        const next = step(state, event, now);
        state = next.state;
        const says = next.line?.says;
        if (says === "out") expect(isTold).toBe(false);
        if (says === "still out") expect(now - toldAt).toBeGreaterThanOrEqual(60_000);
        if (says === "back") expect(isTold).toBe(true);
        if (says === "out" || says === "still out") toldAt = now;
        isTold = state.at === "out";
      }
    }),
  );
});

/** A body that fails, or that is not what was asked for. */
async function* body(text: string, error?: TransportError) {
  yield Buffer.from(text);
  if (error) throw error;
}

const json = { "content-type": "application/json" };

/** A manager of one kind, on a server that answers as told to. */
function managed(answer: (path: string) => Omit<TransportResponse, "headers">) {
  const clock = new ManualClock();
  const lines: LoggedLine[] = [];
  const transport: Transport = {
    request: async ({ path }) =>
      path.startsWith("/version")
        ? { status: 200, headers: json, body: body('{"major":"1","minor":"35"}') }
        : { headers: json, ...answer(path) },
    close: () => Promise.resolve(),
  };
  const running = manager({
    client: new Client({ transport, clock }),
    clock,
    log: recordingLogger(lines),
    tracing: noTracing,
    health: false,
    metrics: false,
  }).add(controller(ConfigMap, { reconcile: () => undefined }));
  const told = () =>
    lines.filter(({ level }) => level === "warn" || level === "error").map(({ message }) => message);
  return { clock, running, told };
}

test.for<[what: string, status: number, body: () => TransportResponse["body"]]>([
  ["is a redirect to a login page", 302, () => body("")],
  ["is a login page", 200, () => body("<html></html>")],
  ["breaks off each time", 200, () => body("{", new TransportError("CONNECTION_RESET", "reset"))],
  ["cannot be unpacked", 200, () => body("", new TransportError("RESPONSE_MALFORMED", "not gzip"))],
])(
  "an answer that %s is not an outage, and is logged for the kind that lacks it",
  async ([, status, lists]) => {
    const { clock, running, told } = managed(() => ({ status, body: lists() }));
    const started = expect(running.start()).rejects.toThrow("stopped while it was starting");
    await clock.advance(60_000);
    expect(told()).toEqual(["cannot list ConfigMap (v1); trying again"]);
    await Promise.all([running.stop(), started]);
  },
);

test("a server that goes while it is watched is logged once, and not for the kinds", async () => {
  const metadata = { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } };
  const listed = `${JSON.stringify({ type: "BOOKMARK", object: { kind: "ConfigMap", metadata } })}\n`;
  const reset = new TransportError("CONNECTION_RESET", "reset");
  let asked = 0;
  const { clock, running, told } = managed(() => {
    asked += 1;
    if (asked > 1) throw reset;
    return { status: 200, body: body(listed, reset) };
  });
  await running.start();
  await clock.advance(30_000);
  expect(asked).toBeGreaterThan(5);
  expect(told()).toEqual(["the API server is out of reach; trying again until it is back"]);
  await running.stop();
});
