import { expect, test } from "vitest";
import { numberAt, TriggerError } from "./number-source.ts";
import { onlyValue, Prometheus } from "./prometheus.ts";

const never = new AbortController().signal;

function answer(value: string) {
  return { status: "success", data: { resultType: "vector", result: [{ metric: {}, value: [1, value] }] } };
}

interface Asked {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

function prometheus(up = "1", own = {}) {
  const asked: Asked[] = [];
  const server = new Prometheus((url, headers) => {
    asked.push({ url: new URL(url), headers });
    const isUptime = new URL(url).searchParams.get("query")?.startsWith("min_over_time");
    return Promise.resolve(answer(isUptime ? up : "0.25"));
  }, own);
  return { asked, server };
}

test("a query is asked of a server that was up all the time", async () => {
  const { asked, server } = prometheus();
  const query = { query: "sum(rate(x[1m]))", serverAddress: "http://prometheus:9090/" };
  expect(await server.ask(query, 900, 0, never)).toBe(0.25);
  expect(asked.map(({ url }) => url.searchParams.get("query"))).toEqual([
    'min_over_time((max(up{container="prometheus"}) or vector(0))[900s:15s])',
    "sum(rate(x[1m]))",
  ]);
  expect(asked[0]?.url.pathname).toBe("/api/v1/query");
});

test("a server that was down gives no answer", async () => {
  const { server } = prometheus("0");
  const asking = server.ask({ query: "x", serverAddress: "http://p" }, 900, 0, never);
  await expect(asking).rejects.toThrow("Prometheus was not up for all of 900 s");
});

test("many services share one look at the health of their server", async () => {
  const { asked, server } = prometheus();
  for (const query of ["a", "b", "c"])
    await server.ask({ query, serverAddress: "http://p" }, 60, 1_000, never);
  expect(asked).toHaveLength(4);
  await server.ask({ query: "d", serverAddress: "http://p" }, 60, 20_000, never);
  expect(asked).toHaveLength(6);
});

test("the operator's credentials go to the operator's server alone", async () => {
  const { asked, server } = prometheus("1", { serverAddress: "http://own", authorization: "Bearer secret" });
  await server.ask({ query: "x" }, 60, 0, never);
  expect(asked.every(({ headers }) => headers.authorization === "Bearer secret")).toBe(true);
  asked.length = 0;
  await server.ask({ query: "x", serverAddress: "http://tenant" }, 60, 0, never);
  expect(asked.some(({ headers }) => "authorization" in headers)).toBe(false);
});

test.for([
  [{ data: { resultType: "vector", result: [] } }, "0 series"],
  [{ data: { resultType: "vector", result: [{ value: [1, "1"] }, { value: [1, "2"] }] } }, "2 series"],
  [answer("NaN"), "NaN"],
  [answer("+Inf"), "+Inf"],
  [{}, "no series"],
  [null, "no series"],
] as const)("%j is no answer", ([given, why]) => {
  expect(() => onlyValue(given)).toThrow(TriggerError);
  expect(() => onlyValue(given)).toThrow(why);
});

test("a scalar is an answer", () => {
  expect(onlyValue({ data: { resultType: "scalar", result: [1, "3"] } })).toBe(3);
});

test("a number is found by its place in a document, and nothing else is", () => {
  const document = { queue: { length: 3, name: "jobs", text: "4" } };
  expect(numberAt(document, "queue.length")).toBe(3);
  expect(numberAt(document, "queue.text")).toBe(4);
  for (const place of ["queue", "queue.name", "queue.constructor", "nothing.here"])
    expect(() => numberAt(document, place)).toThrow(`no number at ${place}`);
});
