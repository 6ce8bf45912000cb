import { setTimeout as delay } from "node:timers/promises";
import type { Client, Interceptor, Transport } from "@windlass/client";
import { type Controller, type Logger, manager } from "@windlass/runtime";
import { CommandError } from "../errors.ts";
import { readSamples, total } from "../prometheus-text.ts";
import { dryRun, type PlannedWrite } from "./dry-run.ts";

/** How often it is looked whether everything has been reconciled. */
const pauseMs = 200;

/** What a preview is of. */
export interface PreviewOptions {
  readonly client: Client;
  readonly controllers: readonly Controller[];
  /** Only these. @default all */
  readonly namespaces?: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Something that the operator logged. */
export interface Complaint {
  /** An error leaves undone what would have come after it; a warning does not. */
  readonly is: "error" | "warning";
  /** The object that it is about, if any: `Shop acme/corner`. */
  readonly what?: string;
  readonly words: string;
}

/** What reconciling once would write, and what the operator complained of meanwhile. */
export interface Preview {
  /** The last write of each path, in the order of the first. */
  readonly writes: readonly PlannedWrite[];
  /** Each once. */
  readonly complaints: readonly Complaint[];
}

/** A complaint in a line. */
export function wordsOf({ what, words }: Complaint): string {
  return what === undefined ? words : `${what}: ${words}`;
}

/**
 * Runs controllers as a manager does, with writes that the server decides about and does not store,
 * until each object has been reconciled.
 *
 * @throws CommandError if that takes too long
 */
export async function preview(options: PreviewOptions): Promise<Preview> {
  const { client, controllers, namespaces, timeoutMs, signal } = options;
  const writes = new Map<string, PlannedWrite>();
  const complaints = new Map<string, Complaint>();
  const refused = Promise.withResolvers<never>();
  // A caller that has stopped listening gets no more of it.
  refused.promise.catch(() => undefined);
  const dry = client
    .through(dryRun((write) => writes.set(`${write.does} ${write.path}`, write)))
    .through(refusals((path) => refused.reject(forbidden(path))));
  await using running = manager({
    client: dry,
    health: false,
    metrics: false,
    log: collector((one) => complaints.set(`${one.is} ${wordsOf(one)}`, one)),
    ...(namespaces === undefined ? {} : { namespaces }),
  });
  for (const one of controllers) running.add(one);
  const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const work = async () => {
    await running.start();
    await settled(() => running.registry.render(), controllers, late);
  };
  await Promise.race([work(), refused.promise, abortionOf(late)]).catch((error: unknown) => {
    if (signal.aborted || !isTimeout(error)) throw error;
    throw new CommandError(
      [
        ...[...complaints.values()].map(wordsOf),
        `not everything was reconciled within ${timeoutMs / 1_000} s: allow more with --timeout`,
      ].join("\n"),
    );
  });
  return { writes: [...writes.values()], complaints: [...complaints.values()] };
}

/**
 * Reports lists and watches that the server refused: nothing can be reconciled from what may not
 * be read.
 */
function refusals(onRefused: (path: string) => void): Interceptor {
  return (next): Transport => ({
    close: () => next.close(),
    request: async (request) => {
      const response = await next.request(request);
      const [path = "", query] = request.path.split("?");
      if (response.status === 403 && request.method === "GET" && query !== undefined) onRefused(path);
      return response;
    },
  });
}

function forbidden(path: string): CommandError {
  return new CommandError(
    `GET ${path} is forbidden to you: this needs the rights that the operator has, as in config/base/rbac.yaml`,
  );
}

function abortionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

/**
 * Resolves once every controller has begun, has nothing left to do, and has done nothing since the
 * last look.
 */
async function settled(
  metrics: () => string,
  controllers: readonly Controller[],
  signal: AbortSignal,
): Promise<void> {
  for (let last = -1; ; ) {
    await delay(pauseMs, undefined, { signal });
    const samples = readSamples(metrics());
    const hasBegun = controllers.every(({ name }) =>
      samples.some((one) => one.name === "workqueue_adds_total" && one.labels.controller === name),
    );
    const left = total(samples, "workqueue_depth") + total(samples, "controller_runtime_active_workers");
    const done = total(samples, "controller_runtime_reconcile_total");
    if (hasBegun && left === 0 && done === last) return;
    last = hasBegun ? done : -1;
  }
}

/** What the runtime says of a reconcile beside its message. */
interface LogFields {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly error?: string;
}

/**
 * A logger that passes on what is worth knowing of a preview: warnings and errors, with the object
 * that they are about.
 */
function collector(tell: (complaint: Complaint) => void, bound: LogFields = {}): Logger {
  const nothing = (): void => undefined;
  const say =
    (is: Complaint["is"]) =>
    (fields: object | string, message = ""): void => {
      const { kind, namespace, name, error }: LogFields =
        typeof fields === "string" ? bound : { ...bound, ...fields };
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      const words = error ?? (typeof fields === "string" ? fields : message);
      tell({ is, ...(kind === undefined || name === undefined ? {} : { what: `${kind} ${key}` }), words });
    };
  const child = (bindings: object) => collector(tell, { ...bound, ...bindings });
  return { debug: nothing, info: nothing, warn: say("warning"), error: say("error"), child };
}
