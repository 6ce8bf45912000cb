import { Client, type Transport } from "@windlass/client";
import { ManualClock } from "@windlass/clock";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import { firstDifference, Trace } from "./trace.ts";

function answering(...chunks: readonly string[]): Transport {
  return {
    request: () =>
      Promise.resolve({
        status: 200,
        headers: {},
        body: (async function* () {
          for (const chunk of chunks) yield Buffer.from(chunk);
        })(),
      }),
    close: () => Promise.resolve(),
  };
}

test("a request and its answer are two lines, with the time and who it was", async () => {
  const clock = new ManualClock();
  const trace = new Trace(clock);
  await clock.advance(1_500);
  const client = new Client({ transport: trace.around(answering('{"kind":"ConfigMap"}'), "me") });
  await client.get(ConfigMap, { namespace: "default", name: "a" });
  expect(trace.lines).toEqual([
    "+1500 me #1 → GET /api/v1/namespaces/default/configmaps/a (application/json)",
    '+1500 me #1 ← 200 {"kind":"ConfigMap"}',
  ]);
});

test("each event of a watch is a line", async () => {
  const trace = new Trace(new ManualClock());
  const event = (type: string) => `{"type":"${type}","object":{}}\n`;
  const client = new Client({ transport: trace.around(answering(event("ADDED"), event("DELETED")), "me") });
  for await (const _ of client.watch(ConfigMap));
  expect(trace.lines.slice(1)).toEqual([
    "+0 me #1 ← 200",
    '+0 me #1 ← {"type":"ADDED","object":{}}',
    '+0 me #1 ← {"type":"DELETED","object":{}}',
  ]);
});

test("a request that got no answer is reported as such", async () => {
  const trace = new Trace(new ManualClock());
  const broken: Transport = { ...answering(), request: () => Promise.reject(new Error("cut off")) };
  const client = new Client({ transport: trace.around(broken, "me") });
  await expect(client.get(ConfigMap, { namespace: "default", name: "a" })).rejects.toThrow("cut off");
  expect(trace.lines.at(-1)).toBe("+0 me #1 ✗ cut off");
});

test("keys, certificates and tokens are not in it", async () => {
  const trace = new Trace(new ManualClock());
  const pem = "-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----\n";
  const token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
  const body = { stringData: { pem, token }, data: { encoded: Buffer.from(pem).toString("base64") } };
  const client = new Client({ transport: trace.around(answering(JSON.stringify(body)), "me") });
  await client.create(Secret, { metadata: { namespace: "default", name: "s" }, ...body });
  const text = String(trace);
  for (const secret of ["MIGHAgEA", token, body.data.encoded]) expect(text).not.toContain(secret);
  expect(text.match(/<PRIVATE KEY>|<PEM>|<token>/g)).toHaveLength(6);
});

test("the first difference of two traces is shown with what came before it", () => {
  const traceOf = (...lines: string[]) => {
    const trace = new Trace(new ManualClock());
    for (const line of lines) trace.note("me", line);
    return trace;
  };
  expect(firstDifference(traceOf("a", "b"), traceOf("a", "b"))).toBeUndefined();
  expect(firstDifference(traceOf("a", "b"), traceOf("a", "c"))).toBe(
    "the runs part at line 2:\n  +0 me a\n- +0 me b\n+ +0 me c",
  );
  expect(firstDifference(traceOf("a"), traceOf("a", "b"))).toContain("- the end\n+ +0 me b");
});
