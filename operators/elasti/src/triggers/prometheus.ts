import { type FetchJson, TriggerError } from "./number-source.ts";

/** The operator's own Prometheus. Its credentials go there and nowhere else. */
export interface DefaultPrometheus {
  readonly serverAddress?: string;
  readonly authorization?: string;
}

/** A query to a Prometheus server. */
export interface PrometheusQuery {
  readonly query: string;
  /** @default the operator's own server */
  readonly serverAddress?: string | undefined;
  /** @default `container="prometheus"` */
  readonly uptimeFilter?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** How long the answer whether a server is well is used again: many services ask the same one. */
const healthMs = 10_000;

/** Asks Prometheus servers for one number at a time. */
export class Prometheus {
  readonly #fetch: FetchJson;
  readonly #own: DefaultPrometheus;
  readonly #health = new Map<string, { readonly askedMs: number; readonly answer: Promise<number> }>();

  constructor(fetch: FetchJson, own: DefaultPrometheus) {
    this.#fetch = fetch;
    this.#own = own;
  }

  /**
   * The result of a query, if the server has been up for all of the time that counts. A server that
   * was down may have missed what happened.
   *
   * @throws TriggerError if there is no such number
   */
  async ask(
    query: PrometheusQuery,
    cooldownSeconds: number,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<number> {
    const { uptimeFilter = 'container="prometheus"' } = query;
    const seconds = Math.max(1, cooldownSeconds);
    // Without a step of its own a subquery has the server's, a minute: a short cooldown would have
    // no sample.
    const step = Math.max(1, Math.floor(seconds / 60));
    const uptime = `min_over_time((max(up{${uptimeFilter}}) or vector(0))[${seconds}s:${step}s])`;
    if ((await this.#uptime(query, uptime, nowMs, signal)) !== 1)
      throw new TriggerError(`Prometheus was not up for all of ${cooldownSeconds} s: up{${uptimeFilter}}`);
    return await this.#value(query, query.query, nowMs, signal);
  }

  #uptime(query: PrometheusQuery, uptime: string, nowMs: number, signal: AbortSignal): Promise<number> {
    const key = `${query.serverAddress ?? ""} ${uptime} ${JSON.stringify(query.headers ?? {})}`;
    const known = this.#health.get(key);
    if (known && nowMs - known.askedMs < healthMs) return known.answer;
    const answer = this.#value(query, uptime, nowMs, signal);
    this.#health.set(key, { askedMs: nowMs, answer });
    answer.catch(() => this.#health.delete(key));
    for (const [other, { askedMs }] of this.#health)
      if (nowMs - askedMs >= healthMs) this.#health.delete(other);
    return answer;
  }

  async #value(query: PrometheusQuery, text: string, nowMs: number, signal: AbortSignal): Promise<number> {
    const address = query.serverAddress ?? this.#own.serverAddress;
    if (address === undefined)
      throw new TriggerError("the trigger has no serverAddress, and the operator has no server of its own");
    const isOwn = address === this.#own.serverAddress;
    const authorization = isOwn &&
      this.#own.authorization !== undefined && { authorization: this.#own.authorization };
    const parameters = new URLSearchParams({ query: text, time: new Date(nowMs).toISOString() });
    const url = `${address.replace(/\/+$/, "")}/api/v1/query?${parameters.toString()}`;
    return onlyValue(await this.#fetch(url, { ...authorization, ...query.headers }, signal));
  }
}

/**
 * The one number in an answer of Prometheus: a scalar, or a vector with one series.
 *
 * @throws TriggerError
 */
export function onlyValue(answer: unknown): number {
  const { data } = record(answer);
  const { resultType, result } = record(data);
  const isScalar = resultType === "scalar";
  if (!isScalar && (!Array.isArray(result) || result.length !== 1)) {
    const count = Array.isArray(result) ? result.length : "no";
    throw new TriggerError(
      `the query gives ${count} series; it must give one: aggregate it, for example with sum()`,
    );
  }
  const sample: unknown = isScalar ? result : record((result as readonly unknown[])[0]).value;
  const text: unknown = Array.isArray(sample) ? sample[1] : undefined;
  const value = typeof text === "string" ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new TriggerError(`the query gives ${String(text)}, which is no number`);
  return value;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
