import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "@windlass/clock";
import { type Logger, type LogMethod, pinoLogger } from "@windlass/runtime";

/** Where reports go, from a DSN: `https://KEY@HOST/PROJECT`. */
export interface SentryProject {
  readonly url: string;
  readonly key: string;
}

/** A DSN that names no project. Its message does not repeat the key. */
export class DsnError extends Error {
  constructor() {
    super("SENTRY_DSN must be of the form https://KEY@HOST/PROJECT");
    this.name = "DsnError";
  }
}

/** Reads a DSN. @throws DsnError */
export function projectOf(dsn: string): SentryProject {
  const { protocol, host, username, pathname } = URL.parse(dsn) ?? {};
  const parts = (pathname ?? "").split("/").filter((part) => part !== "");
  const project = parts.pop();
  if (!protocol?.startsWith("http") || !username || project === undefined) throw new DsnError();
  const prefix = parts.map((part) => `/${part}`).join("");
  return { url: `${protocol}//${host}${prefix}/api/${project}/envelope/`, key: username };
}

/** How errors are reported. */
export interface SentryOptions {
  readonly dsn: string;
  /** The program that reports. */
  readonly program: string;
  /** @default "production" */
  readonly environment?: string | undefined;
  /** @default the machine's clock */
  readonly clock?: Clock;
  /** @default Node's own */
  readonly send?: typeof fetch;
}

/** More than this many in a minute say nothing new. */
const mostPerMinute = 30;
const minuteMs = 60_000;
const longestMs = 5_000;
/** Fields of a log line that say what it is about. No other is reported: it may be a user's own. */
const reported = ["controller", "elastiservice", "namespace", "name", "service", "port", "reconcileId"];

/**
 * Reports what is logged as an error to Sentry: one event for each line, never more than a few at a
 * time.
 */
export class Sentry {
  readonly #options: SentryOptions;
  readonly #project: SentryProject;
  readonly #clock: Clock;
  #minute = 0;
  #sent = 0;
  #silentUntilMs = 0;

  /** @throws DsnError */
  constructor(options: SentryOptions) {
    this.#options = options;
    this.#project = projectOf(options.dsn);
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Reports one line. Never rejects: that a report was lost must not be logged as an error, which
   * would be reported.
   */
  async report(
    level: "error" | "fatal",
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const now = this.#clock.now();
    const minute = Math.floor(now / minuteMs);
    if (minute !== this.#minute) this.#sent = 0;
    this.#minute = minute;
    if (now < this.#silentUntilMs || ++this.#sent > mostPerMinute) return;
    try {
      const { send = fetch } = this.#options;
      const answer = await send(this.#project.url, {
        method: "POST",
        headers: {
          "content-type": "application/x-sentry-envelope",
          "x-sentry-auth": `Sentry sentry_version=7, sentry_client=windlass/1, sentry_key=${this.#project.key}`,
        },
        body: this.#envelope(level, message, fields, now),
        signal: AbortSignal.timeout(longestMs),
      });
      await answer.arrayBuffer();
      if (answer.status === 429)
        this.#silentUntilMs = now + (Number(answer.headers.get("retry-after")) || 60) * 1_000;
    } catch {
      // It is in the log as well.
    }
  }

  #envelope(
    level: "error" | "fatal",
    message: string,
    fields: Readonly<Record<string, unknown>>,
    now: number,
  ): string {
    const id = randomUUID().replaceAll("-", "");
    const at = new Date(now).toISOString();
    const cause = fields.err ?? fields.error;
    const tags = reported.flatMap((name) => {
      const value = fields[name];
      return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
    });
    const event = {
      event_id: id,
      timestamp: at,
      level,
      platform: "node",
      logger: this.#options.program,
      environment: this.#options.environment ?? "production",
      message: { formatted: message },
      tags: { program: this.#options.program, ...Object.fromEntries(tags) },
      ...(cause !== undefined && { exception: { values: [exceptionOf(cause)] } }),
    };
    const lines = [{ event_id: id, sent_at: at }, { type: "event" }, event];
    return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  }
}

function exceptionOf(cause: unknown): { readonly type: string; readonly value: string } {
  return cause instanceof Error
    ? { type: cause.name, value: cause.message }
    : { type: "Error", value: typeof cause === "string" ? cause : "unknown" };
}

/** A logger that reports errors besides. */
export function reporting(log: Logger, sentry: Pick<Sentry, "report">, bindings: object = {}): Logger {
  const method = (level: "error" | "fatal"): LogMethod => {
    const write = (level === "fatal" ? (log.fatal ?? log.error) : log.error).bind(log);
    return (first: string | object, message?: string) => {
      const fields = typeof first === "string" ? {} : first;
      const text = typeof first === "string" ? first : (message ?? "an error without words");
      if (typeof first === "string") write(first);
      else write(first, message);
      void sentry.report(level, text, { ...bindings, ...fields });
    };
  };
  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: log.warn.bind(log),
    error: method("error"),
    fatal: method("fatal"),
    child: (more) => reporting(log.child(more), sentry, { ...bindings, ...more }),
  };
}

/** The logger of a program that reports to Sentry; undefined if it is not to. @throws DsnError */
export async function reportingLogger(
  settings: { readonly SENTRY_DSN?: string | undefined; readonly SENTRY_ENVIRONMENT?: string | undefined },
  program: string,
): Promise<Logger | undefined> {
  const { SENTRY_DSN: dsn, SENTRY_ENVIRONMENT: environment } = settings;
  if (dsn === undefined) return undefined;
  return reporting(await pinoLogger(), new Sentry({ dsn, environment, program }));
}
