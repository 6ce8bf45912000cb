import { type Span, type SpanOptions, type Tracer, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTelemetry } from "./tracing.ts";

const spans: { name: string; attributes: unknown; failed: boolean; ended: boolean }[] = [];

function recordingTracer(): Tracer {
  const startSpan = (name: string, options: SpanOptions = {}): Span => {
    const record = { name, attributes: options.attributes, failed: false, ended: false };
    spans.push(record);
    const span: Partial<Span> = {
      setStatus: () => {
        record.failed = true;
        return span as Span;
      },
      end: () => {
        record.ended = true;
      },
    };
    return span as Span;
  };
  return { startSpan } as Tracer;
}

beforeEach(() => {
  spans.length = 0;
  trace.setGlobalTracerProvider({ getTracer: recordingTracer });
});
afterEach(() => trace.disable());

test("a reconcile is one span, with the wait in the queue and each write within it", async () => {
  const tracing = await openTelemetry();
  const failed = tracing.reconcile({ controller: "webapp" }, 12, async () => {
    await tracing.write("apply Deployment default/web", () => Promise.resolve());
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  expect(spans).toEqual([
    { name: "reconcile", attributes: { controller: "webapp" }, failed: true, ended: true },
    { name: "queue wait", attributes: undefined, failed: false, ended: true },
    {
      name: "apply Deployment",
      attributes: { "windlass.write": "apply Deployment default/web" },
      failed: false,
      ended: true,
    },
  ]);
});

test("spans are recorded from the moment at which an SDK is registered", async () => {
  trace.disable();
  const tracing = await openTelemetry();
  const run = Promise.resolve("done");
  expect(tracing.reconcile({}, 0, () => run)).toBe(run);
  expect(tracing.write("apply Deployment default/web", () => run)).toBe(run);
  trace.setGlobalTracerProvider({ getTracer: recordingTracer });
  await tracing.write("apply Deployment default/web", () => run);
  expect(spans.map(({ name }) => name)).toEqual(["apply Deployment"]);
});
