import { type Client, isForbidden, isNotFound } from "@windlass/client";
import { Pod } from "@windlass/runtime/kinds";
import { CommandError } from "../errors.ts";
import type { Operator } from "../generate/resolve.ts";
import { readSamples, type Sample } from "../prometheus-text.ts";

/** What the replicas of an operator answered. */
export interface Answers {
  /** The metrics of each replica that answered, by its name. */
  readonly replicas: ReadonlyMap<string, readonly Sample[]>;
  /** Why each of the others did not. */
  readonly silent: ReadonlyMap<string, string>;
}

/** Reads the metrics of each replica. */
export type ReadMetrics = (signal: AbortSignal) => Promise<Answers>;

/** How long a replica may take to answer: one that hangs must not hold up the others. */
const patienceMs = 5_000;

/** Whether the next reading may go well: what restarts, or rolls, is away for a moment. */
export function isUnanswered(error: unknown): error is Error {
  if (!(error instanceof Error) || isForbidden(error) || isForbidden(error.cause)) return false;
  return ["CommandError", "ApiError", "TransportError"].includes(error.name);
}

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
    return { replicas: new Map([[new URL(url).host, readSamples(text)]]), silent: new Map() };
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
    const running = items.filter(({ status }) => status?.phase === "Running");
    if (running.length === 0)
      throw new CommandError(
        `no pod of ${name} runs in ${namespace}: say with --namespace where it is, or ask npx windlass doctor`,
      );
    const replicas = new Map<string, readonly Sample[]>();
    const silent = new Map<string, string>();
    const read = async (pod: Pod): Promise<void> => {
      const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}:${metricsPort}/proxy/metrics`;
      const soon = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      try {
        const text = await client.text({ path, signal: soon, retry: "never" });
        replicas.set(pod.metadata.name, readSamples(text));
      } catch (error) {
        if (signal.aborted) throw error;
        // It ended meanwhile.
        if (isNotFound(error)) return;
        if (isForbidden(error))
          throw new CommandError(
            `you may not reach pods through the API server: kubectl -n ${namespace} port-forward deploy/${name} ${metricsPort}, then: windlass top --url http://localhost:${metricsPort}/metrics`,
            { cause: error },
          );
        silent.set(pod.metadata.name, whySilent(pod, error));
      }
    };
    await Promise.all(running.map(read));
    if (replicas.size === 0)
      throw new CommandError(
        [...silent].map(([pod, why]) => `${pod} does not answer: ${why}`).join("; ") ||
          `the pods of ${name} have ended meanwhile`,
      );
    return { replicas, silent };
  };
}

/**
 * A pod whose container ends again and again still counts as running: that says more than a status
 * of 503.
 */
function whySilent({ status }: Pod, error: unknown): string {
  for (const { state, lastState } of status?.containerStatuses ?? []) {
    const { waiting, terminated } = state ?? {};
    const reason = waiting?.reason ?? terminated?.reason;
    if (reason === undefined) continue;
    const code = (terminated ?? lastState?.terminated)?.exitCode;
    return code === undefined ? reason : `${reason}, it ended with exit code ${code}`;
  }
  if (error instanceof DOMException && error.name === "TimeoutError")
    return `it took longer than ${patienceMs / 1_000} s`;
  return error instanceof Error ? error.message : String(error);
}
