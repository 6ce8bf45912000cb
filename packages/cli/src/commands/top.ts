import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { command } from "../command.ts";
import { UsageError } from "../errors.ts";
import { configFile, loadOperator } from "../generate/load.ts";
import { countIn, millisecondsIn } from "../parse.ts";
import { styler, type Terminal } from "../terminal.ts";
import { figuresOf, type Reading } from "../top/figures.ts";
import type { ReadMetrics } from "../top/read-metrics.ts";
import { table } from "../top/table.ts";
import type { Unready } from "../top/unready.ts";

/** `windlass top` */
export const top = command({
  name: "top",
  summary: "show queues, rates, slow and failing reconciles of a running operator",
  description: `
Reads the metrics of a running operator every few seconds and shows, for each controller:
objects that wait, reconciles and errors a second, how long reconciles and the queue take,
the longest that is under way, writes sent and writes saved; failures by their reason; the
objects that are not ready, and why; and what the caches hold.

Where ${configFile} declares the operator, its pods are found in the cluster and read through
the API server. With --url any /metrics is read, such as that of windlass dev or behind a
port-forward. An operator that does not answer for a while is waited for. Ctrl-C ends it.`,
  options: {
    url: { type: "string", value: "URL", describe: "read these metrics instead of asking a cluster" },
    context: {
      type: "string",
      value: "CONTEXT",
      describe: "the context of the kubeconfig to use",
      otherwise: "the current one",
    },
    namespace: {
      type: "string",
      short: "n",
      value: "NAMESPACE",
      describe: "where the operator is installed",
      otherwise: "the one that it declares",
    },
    interval: { type: "string", value: "SECONDS", describe: "the time between two readings", otherwise: "2" },
    count: { type: "string", value: "N", describe: "exit after N readings", otherwise: "until Ctrl-C" },
    config: {
      type: "string",
      value: "FILE",
      describe: "the declaration of the operator",
      otherwise: configFile,
      completion: "files",
    },
    json: { type: "boolean", describe: "print the figures as JSON, one line a reading" },
  },
  examples: [
    { line: "windlass top", what: "in the folder of an operator that runs in the cluster" },
    { line: "windlass top --url http://localhost:8080/metrics", what: "an operator on this machine" },
    { line: "windlass top --count 1 --json | jq .controllers", what: "for scripts" },
  ],
  async run({ options }, terminal) {
    const intervalMs = millisecondsIn("--interval", options.interval ?? "2");
    const count = options.count === undefined ? Number.POSITIVE_INFINITY : countIn("--count", options.count);
    await using operator = await find(options, terminal);
    const read = async (): Promise<Reading> => ({
      atMs: performance.now(),
      ...(await operator.read(terminal.signal)),
    });
    const style = styler(terminal, terminal.stdout);
    const { isUnanswered } = await import("../top/read-metrics.ts");
    let earlier: Reading | undefined;
    let isSilent = false;
    let isToldHidden = false;
    for (let shown = 0; ; ) {
      try {
        const later = await read();
        const { objects: unready, hidden } = await operator.unready();
        isSilent = false;
        if (hidden.length > 0 && !isToldHidden)
          terminal.stderr.write(`not shown, for you may not list them: ${hidden.join(", ")}\n`);
        isToldHidden = true;
        if (earlier !== undefined) {
          const figures = figuresOf(earlier, later);
          if (options.json === true) terminal.stdout.write(`${JSON.stringify({ ...figures, unready })}\n`);
          else {
            // A person sees one table that changes; a file gets one after the other.
            const clear = terminal.stdout.isTTY === true ? "\x1b[H\x1b[2J" : "";
            terminal.stdout.write(`${clear}${table(operator.name, figures, unready, style)}\n`);
          }
          shown++;
        }
        earlier = later;
      } catch (error) {
        // A script that asked for so many readings gets them, or the reason.
        if (Number.isFinite(count) || !isUnanswered(error)) throw error;
        if (!isSilent) terminal.stderr.write(`${error.message}; trying again\n`);
        isSilent = true;
      }
      if (shown >= count) return;
      await delay(intervalMs, undefined, { signal: terminal.signal });
    }
  },
});

/** An operator that can be asked how it does. */
interface Watched extends AsyncDisposable {
  readonly name: string;
  readonly read: ReadMetrics;
  readonly unready: () => Promise<Unready>;
}

interface Where {
  readonly url?: string;
  readonly config?: string;
  readonly context?: string;
  readonly namespace?: string;
}

async function find(where: Where, terminal: Terminal): Promise<Watched> {
  const { metricsAt, metricsOfPods } = await import("../top/read-metrics.ts");
  if (where.url !== undefined) {
    if (!/^https?:$/.test(URL.parse(where.url)?.protocol ?? ""))
      throw new UsageError("--url must be the address of metrics, such as http://localhost:8080/metrics");
    return {
      name: where.url,
      read: metricsAt(where.url),
      unready: async () => ({ objects: [], hidden: [] }),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const file = resolve(terminal.folder, where.config ?? configFile);
  if (!existsSync(file))
    throw new UsageError(`there is no ${file}: run this in the folder of an operator, or give it --url`);
  const operator = await loadOperator(file);
  const { connect } = await import("@windlass/client");
  const { UnreadyObjects } = await import("../top/unready.ts");
  await using stack = new AsyncDisposableStack();
  const client = stack.use(
    await connect({
      env: terminal.env,
      ...(where.context === undefined ? {} : { context: where.context }),
    }),
  );
  const read = metricsOfPods(client, operator, where.namespace ?? operator.namespace);
  const unready = stack.use(new UnreadyObjects(client, operator));
  const kept = stack.move();
  return {
    name: operator.name,
    read,
    unready: () => unready.now(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
