/**
 * Where spans go. The OpenTelemetry API is loaded only when a manager starts; without an SDK all of
 * this does nothing.
 */
export interface Tracing {
  /**
   * Brackets one reconcile: a span from the event that asked for it, with the wait in the queue as
   * its first part.
   */
  reconcile<T>(attributes: SpanAttributes, waitedMs: number, run: () => Promise<T>): Promise<T>;
  /** Brackets one write within a reconcile. */
  write<T>(what: string, send: () => Promise<T>): Promise<T>;
}

/** The attributes of a span, by the names of OpenTelemetry. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Records nothing. */
export const noTracing: Tracing = {
  reconcile: (_attributes, _waitedMs, run) => run(),
  write: (_what, send) => send(),
};

const tracerName = "@windlass/runtime";

/** Spans through the global tracer provider of `@opentelemetry/api`. */
export async function openTelemetry(): Promise<Tracing> {
  const { context, ProxyTracerProvider, SpanStatusCode, trace } = await import("@opentelemetry/api");
  const tracer = trace.getTracer(tracerName);
  // An SDK may be registered at any time. Until then a span would not be exported, and none is
  // made.
  const isRecorded = () => {
    const provider = trace.getTracerProvider();
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(tracerName) !== undefined;
  };
  const bracket = async <T>(
    name: string,
    options: { readonly attributes?: SpanAttributes; readonly startTime?: number },
    run: () => Promise<T>,
  ): Promise<T> => {
    const span = tracer.startSpan(name, options);
    try {
      return await context.with(trace.setSpan(context.active(), span), run);
    } catch (error) {
      span.setStatus({
        code: SpanStatusCode.ERROR,
        message: error instanceof Error ? error.message : String(error),
      });
      throw error;
    } finally {
      span.end();
    }
  };
  return {
    reconcile(attributes, waitedMs, run) {
      if (!isRecorded()) return run();
      return bracket("reconcile", { attributes, startTime: Date.now() - waitedMs }, async () => {
        tracer.startSpan("queue wait", { startTime: Date.now() - waitedMs }).end();
        return run();
      });
    },
    write(what, send) {
      if (!isRecorded()) return send();
      return bracket(what.split(" ", 2).join(" "), { attributes: { "windlass.write": what } }, send);
    },
  };
}
