import { type Clock, milliseconds, sleep } from "@windlass/clock";
import type { Logger, ObjectKey, Source, SourceContext } from "@windlass/runtime";
import type { Wishes } from "../service/controller.ts";
import { ElastiService, type ElastiServiceObject } from "../service/elasti-service.ts";
import { awakeUntilAnnotation } from "../service/names.ts";
import type { Observation } from "../service/stage.ts";
import { type FetchJson, headersOf, numberAt, type ReadSecret, TriggerError } from "./number-source.ts";
import type { Prometheus } from "./prometheus.ts";
import { type CronTime, isBetween, isWithin, ScheduleError } from "./schedule.ts";
import { combine, judged, type Standing, type Verdict, wishOf } from "./verdict.ts";
import { isNewNeed, NeedForecast } from "./wake-ahead.ts";

/** What the replicas of the resolver count of a service. */
export interface CountedRequests {
  readonly requests: number;
  readonly inFlight: number;
  /** The count of each process: it changes with every request, also where the sum does not. */
  readonly stamp: string;
}

/**
 * How many requests a service has had, from the resolver; undefined if no replica of it reports it.
 */
export type RequestCount = (
  elasti: ElastiServiceObject,
  context: Pick<SourceContext, "cache" | "signal">,
) => Promise<CountedRequests | undefined>;

/** What triggers are evaluated with. */
export interface EvaluatorOptions {
  readonly prometheus: Prometheus;
  readonly fetchJson: FetchJson;
  readonly countRequests: RequestCount;
  /** @default no Secret can be read */
  readonly readSecret?: ReadSecret;
  /** How often triggers are evaluated. @default 15_000 */
  readonly intervalMs?: number;
  /** How many services are evaluated at a time. @default 200 */
  readonly concurrency?: number;
}

type Trigger = NonNullable<ElastiServiceObject["spec"]["triggers"]>[number];

/**
 * Asks the triggers of all services, and asks for a reconcile of those that should sleep or wake
 * for them. What it remembers is lost with the process; then the cooldown starts over.
 */
export class TriggerEvaluator implements Wishes {
  readonly #options: EvaluatorOptions;
  readonly #standings = new Map<string, Standing>();
  readonly #counts = new Map<string, CountedRequests>();
  readonly #wishes = new Map<string, Observation["wish"]>();
  /** When a trigger that measures last saw that a service is used. */
  readonly #usedAt = new Map<string, number>();
  readonly #forecast = new NeedForecast();
  #clock: Clock | undefined;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
  }

  wishOf(elasti: ElastiServiceObject): Observation["wish"] {
    const nowMs = this.#clock?.now();
    if (nowMs === undefined) return "stay";
    if (isKeptAwake(elasti, nowMs) || this.#isNeedExpected(elasti, nowMs)) return "wake";
    const { lastScaledUpTime } = elasti.status ?? {};
    const created = Date.parse(elasti.metadata.creationTimestamp ?? "") || 0;
    const wanted = lastScaledUpTime === undefined ? 0 : Date.parse(lastScaledUpTime);
    return wishOf(this.#standings.get(serviceId(elasti)), {
      cooldownMs: elasti.spec.cooldownPeriod * 1_000,
      lastWantedMs: Math.max(created, wanted),
      nowMs,
    });
  }

  usedAt(elasti: ElastiServiceObject): number | undefined {
    return this.#usedAt.get(serviceId(elasti));
  }

  faultOf(elasti: ElastiServiceObject): string | undefined {
    return this.#standings.get(serviceId(elasti))?.fault;
  }

  readonly source: Source = async (context) => {
    this.#clock = context.clock;
    const { intervalMs = 15_000 } = this.#options;
    while (!context.signal.aborted) {
      await this.#round(context);
      await sleep(context.clock, intervalMs, context.signal).catch(unlessAborted(context.signal));
    }
  };

  /**
   * Evaluates all once. A few at a time, so that one slow server does not hold up the others.
   */
  async #round(context: SourceContext): Promise<void> {
    const waiting = [...context.cache.list(ElastiService)];
    const known = new Set(waiting.map(serviceId));
    for (const map of [this.#standings, this.#counts, this.#wishes, this.#usedAt])
      for (const id of map.keys()) if (!known.has(id)) map.delete(id);
    this.#forecast.keep(known);
    const { concurrency = 200 } = this.#options;
    const worker = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await this.#one(next, context);
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, worker));
  }

  async #one(elasti: ElastiServiceObject, context: SourceContext): Promise<void> {
    const { clock, signal, enqueue, log } = context;
    const id = serviceId(elasti);
    const verdict = await this.#verdict(elasti, clock.now(), context);
    if (signal.aborted) return;
    const before = this.#standings.get(id);
    const standing = judged(before, verdict, clock.now());
    this.#standings.set(id, standing);
    if (before?.activity !== standing.activity) report(log, elasti, standing);
    const wish = this.wishOf(elasti);
    const isNews =
      this.#wishes.get(id) !== wish || before?.fault !== standing.fault || this.#isFirstUse(elasti);
    this.#wishes.set(id, wish);
    if (isNews) enqueue(serviceKey(elasti));
  }

  /** Whether it was used since it was woken, and that is not in its status yet. */
  #isFirstUse({ metadata, spec, status }: ElastiServiceObject): boolean {
    const usedAt = this.#usedAt.get(`${metadata.namespace}/${metadata.name}`);
    if (!spec.wakeAhead || usedAt === undefined) return false;
    return isNewNeed(historyOf(status), Date.parse(status?.lastScaledUpTime ?? ""), usedAt);
  }

  async #verdict(elasti: ElastiServiceObject, nowMs: number, context: SourceContext): Promise<Verdict> {
    const { enabledPeriod, triggers = [] } = elasti.spec;
    try {
      if (enabledPeriod) {
        const start: CronTime = { expression: enabledPeriod.schedule, timeZone: enabledPeriod.timeZone };
        if (!isWithin(start, enabledPeriod.duration, nowMs))
          return { activity: "busy", why: "it is outside of its enabled period" };
      }
      return combine(
        await Promise.all(triggers.map((trigger) => this.#ask(trigger, elasti, nowMs, context))),
      );
    } catch (error) {
      if (error instanceof ScheduleError) return { activity: "unknown", why: error.message, isFault: true };
      // It must not keep the triggers of all others from being asked.
      const why = error instanceof Error ? error.message : String(error);
      context.log.error({ elastiservice: serviceId(elasti), error: why }, "a trigger failed");
      return { activity: "unknown", why, isFault: true };
    }
  }

  async #ask(
    trigger: Trigger,
    elasti: ElastiServiceObject,
    nowMs: number,
    context: SourceContext,
  ): Promise<Verdict> {
    const { signal } = context;
    const { namespace } = elasti.metadata;
    const { readSecret = () => Promise.reject(new Error("no Secrets are read here")) } = this.#options;
    const { metadata = {} } = trigger;
    const { query = "", url = "", valueLocation = "", start = "", end = "", timezone = "UTC" } = metadata;
    try {
      switch (trigger.type) {
        case "prometheus": {
          const value = await this.#options.prometheus.ask(
            { ...metadata, query, headers: await headersOf(metadata, namespace, readSecret, signal) },
            elasti.spec.cooldownPeriod,
            nowMs,
            signal,
          );
          return this.#measured(elasti, nowMs, below(value, metadata.threshold, "the query"));
        }
        case "http": {
          const headers = await headersOf(metadata, namespace, readSecret, signal);
          const document = await this.#options.fetchJson(url, headers, signal);
          const verdict = below(numberAt(document, valueLocation), metadata.threshold, valueLocation);
          return this.#measured(elasti, nowMs, verdict);
        }
        case "schedule": {
          const zoned = (expression: string): CronTime => ({ expression, timeZone: timezone });
          return isBetween(zoned(start), zoned(end), nowMs)
            ? { activity: "busy", why: "it is scheduled to be awake" }
            : { activity: "idle" };
        }
        case "traffic":
          return await this.#traffic(elasti, context);
      }
    } catch (error) {
      if (error instanceof TriggerError) return { activity: "unknown", why: error.message, isFault: true };
      throw error;
    }
  }

  /** Whether the service is one that wakes ahead of need, and a need is near. */
  #isNeedExpected(elasti: ElastiServiceObject, nowMs: number): boolean {
    const { spec, status } = elasti;
    if (!spec.wakeAhead) return false;
    const { lead, timeZone } = spec.wakeAhead;
    try {
      const leadMs = milliseconds(lead, "wakeAhead.lead");
      return this.#forecast.isExpected(serviceId(elasti), historyOf(status), nowMs, { leadMs, timeZone });
    } catch (error) {
      // The pattern of the field lets names through that are no zones.
      if (error instanceof RangeError) return false;
      throw error;
    }
  }

  /** Notes that a service is used, if what was measured shows it. */
  #measured(elasti: ElastiServiceObject, nowMs: number, verdict: Verdict): Verdict {
    if (verdict.activity === "busy") this.#usedAt.set(serviceId(elasti), nowMs);
    return verdict;
  }

  /**
   * Whether requests came since the last look. It never wakes a service: a request does that by
   * itself.
   */
  async #traffic(elasti: ElastiServiceObject, context: SourceContext): Promise<Verdict> {
    const id = serviceId(elasti);
    const count = await this.#options.countRequests(elasti, context);
    if (!count) return { activity: "unknown", why: "no resolver reports how many requests there were" };
    const before = this.#counts.get(id);
    this.#counts.set(id, count);
    const isIdle = before?.stamp === count.stamp && count.inFlight === 0;
    if (before && count.requests > before.requests) this.#usedAt.set(id, this.#clock?.now() ?? 0);
    return isIdle ? { activity: "idle" } : { activity: "unknown", why: "requests came" };
  }
}

/** Whether a person wants it awake for now. */
function isKeptAwake({ metadata }: ElastiServiceObject, nowMs: number): boolean {
  const until = metadata.annotations?.[awakeUntilAnnotation];
  return until !== undefined && !(Date.parse(until) <= nowMs);
}

function historyOf(status: ElastiServiceObject["status"]): readonly number[] {
  return (status?.neededTimes ?? []).map((time) => Date.parse(time));
}

function below(value: number, threshold: string | number | undefined, what: string): Verdict {
  const limit = Number(threshold ?? 0);
  return value < limit
    ? { activity: "idle" }
    : { activity: "busy", why: `${what} gives ${value}, not less than ${limit}` };
}

function report(log: Logger, elasti: ElastiServiceObject, { activity, why, fault }: Standing): void {
  const about = { elastiservice: serviceId(elasti), activity, why };
  if (fault !== undefined) log.warn(about, "a trigger has no answer: the service stays as it is");
  else log.info(about, "triggers changed their mind");
}

function serviceKey({ metadata: { namespace, name } }: ElastiServiceObject): ObjectKey {
  return { namespace, name };
}

function serviceId({ metadata: { namespace, name } }: ElastiServiceObject): string {
  return `${namespace}/${name}`;
}

function unlessAborted(signal: AbortSignal) {
  return (error: unknown): void => {
    if (!signal.aborted) throw error;
  };
}
