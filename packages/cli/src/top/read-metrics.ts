import { type Client, isForbidden, isNotFound } from "@windlass/client";
import { Pod } from "@windlass/runtime/kinds";
import { CommandError } from "../errors.ts";
import type { Operator } from "../generate/resolve.ts";
import { readSamples, type Sample } from "../prometheus-text.ts";

/** Reads the metrics of each replica, by its name. */
export type ReadMetrics = (signal: AbortSignal) => Promise<ReadonlyMap<string, readonly Sample[]>>;

/** From one address: an operator on this machine, or behind a port-forward. */
export function metricsAt(url: string): ReadMetrics {
  return async (signal) => {
    const { ok, status, text } = await answerOf(url, signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CommandError(`${url} does not answer: ${cause}`);
    });
    if (!ok) throw new CommandError(`${url} answers with ${status}: is it the operator's /metrics?`);
    return new Map([[new URL(url).host, readSamples(text)]]);
  };
}

/** A whole answer: a connection may also break in the middle of one. */
async function answerOf(url: string, signal: AbortSignal) {
  const response = await fetch(url, { signal });
  return { ok: response.ok, status: response.status, text: await response.text() };
}

/**
 * From the pods of an operator in a cluster, through the API server: nothing has to be forwarded.
 */
export function metricsOfPods(client: Client, operator: Operator, namespace: string): ReadMetrics {
  const { name, metricsPort } = operator.manager;
  if (metricsPort === undefined) throw new CommandError(`${name} declares that it serves no metrics`);
  const labelSelector = `app.kubernetes.io/name=${name}`;
  return async (signal) => {
    const { items } = await client.list(Pod, { namespace, labelSelector, signal });
    const running = items
      .filter(({ status }) => status?.phase === "Running")
      .map(({ metadata }) => metadata.name);
    if (running.length === 0)
      throw new CommandError(
        `no pod of ${name} runs in ${namespace}: say with --namespace where it is, or ask npx windlass doctor`,
      );
    const read = async (pod: string): Promise<readonly (readonly [string, readonly Sample[]])[]> => {
      const path = `/api/v1/namespaces/${namespace}/pods/${pod}:${metricsPort}/proxy/metrics`;
      try {
        return [[pod, readSamples(await client.text({ path, signal }))]];
      } catch (error) {
        // It ended meanwhile.
        if (isNotFound(error)) return [];
        if (!isForbidden(error)) throw error;
        throw new CommandError(
          `you may not reach pods through the API server: kubectl -n ${namespace} port-forward deploy/${name} ${metricsPort}, then: windlass top --url http://localhost:${metricsPort}/metrics`,
        );
      }
    };
    return new Map((await Promise.all(running.map(read))).flat());
  };
}
