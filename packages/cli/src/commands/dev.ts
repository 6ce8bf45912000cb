import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { command } from "../command.ts";
import { CommandError, UsageError } from "../errors.ts";
import { styler, type Terminal } from "../terminal.ts";

const defaultTunnelImage = "node:24-slim";

/** `windlass dev` */
export const dev = command({
  name: "dev",
  summary: "run an operator from its sources, and show what happens",
  description: `
Starts a Kubernetes API server in this process and runs the operator of this folder on it:
installs the CRDs of the kinds that its module exports, applies its samples, and shows what
happens to them. When a source changes the operator is restarted; the objects stay.
Webhooks are called on this machine; the operator's code need not change for that.

While it runs, kubectl works with the KUBECONFIG that it prints. Ctrl-C ends it.

With --cluster it runs on the cluster that kubectl uses, with your rights. CRDs and samples
stay there. Webhooks are called on this machine with --webhook-host, or through a pod with
--tunnel; when it ends, webhook configurations are put back as they were.`,
  options: {
    main: {
      type: "string",
      value: "FILE",
      describe: "the program that runs the operator",
      otherwise: "src/main.ts",
      completion: "files",
    },
    module: {
      type: "string",
      value: "FILE",
      describe: "the module that exports its kinds",
      otherwise: "src/index.ts",
      completion: "files",
    },
    samples: {
      type: "string",
      value: "FOLDER",
      describe: "the folder of objects to apply at the start",
      otherwise: "config/samples",
      completion: "folders",
    },
    port: {
      type: "string",
      value: "PORT",
      describe: "the port of the embedded API server",
      otherwise: "any that is free",
    },
    cluster: {
      type: "boolean",
      describe: "run on the cluster that kubectl uses, not on an embedded one",
    },
    context: {
      type: "string",
      value: "CONTEXT",
      describe: "the context of the kubeconfig to use; with --cluster",
      otherwise: "the current one",
    },
    namespace: {
      type: "string",
      short: "n",
      value: "NAMESPACE",
      describe: "where the operator's Lease and its webhooks' Secret go; with --cluster",
      otherwise: "the kubeconfig's",
    },
    "webhook-host": {
      type: "string",
      value: "ADDRESS",
      describe: "where the API server reaches this machine; with --cluster",
      otherwise: "webhooks are not called here",
    },
    tunnel: { type: "boolean", describe: "call webhooks through a pod of the cluster; with --cluster" },
    "tunnel-image": {
      type: "string",
      value: "IMAGE",
      describe: "the image of that pod; needs Node 24 on its PATH",
      otherwise: defaultTunnelImage,
    },
    json: { type: "boolean", describe: "print what happens as JSON, one event a line" },
    "exit-when-ready": { type: "boolean", describe: "exit once every sample is Ready; for scripts" },
  },
  examples: [
    { line: "windlass dev", what: "in the folder of an operator" },
    { line: "windlass dev --exit-when-ready", what: "in CI: exits with 0 once the samples are Ready" },
    {
      line: "windlass dev --cluster --webhook-host 192.168.1.7",
      what: "on the cluster of your kubeconfig, which calls webhooks at that address",
    },
    {
      line: "windlass dev --cluster --tunnel",
      what: "the same, where the cluster does not reach this machine",
    },
  ],
  async run({ options }, terminal) {
    const began = performance.now();
    const port = portOf(options.port);
    checkChoices(options);
    const project = {
      main: resolve(terminal.folder, options.main ?? "src/main.ts"),
      module: resolve(terminal.folder, options.module ?? "src/index.ts"),
      samples: resolve(terminal.folder, options.samples ?? "config/samples"),
    };
    for (const name of ["main", "module"] as const)
      if (!existsSync(project[name]))
        throw new CommandError(
          `there is no ${project[name]}: run this in the folder of an operator, or say with --${name} where it is`,
        );
    if (options.samples !== undefined && !existsSync(project.samples))
      throw new CommandError(`there is no ${project.samples}: say with --samples which folder has them`);
    const say = options.json ? jsonSayer(terminal, began) : sayer(terminal, began);
    const [{ currentCluster, embeddedCluster }, { DevSession }, { WebhooksBefore }] = await Promise.all([
      import("../dev/dev-cluster.ts"),
      import("../dev/session.ts"),
      import("../dev/webhooks-before.ts"),
    ]);
    const { context, namespace } = options;
    const webhooks = webhooksOf(options);
    await using cluster =
      options.cluster === true
        ? await currentCluster(
            terminal,
            {
              ...(context === undefined ? {} : { context }),
              ...(namespace === undefined ? {} : { namespace }),
              ...(webhooks === undefined ? {} : { webhooks }),
            },
            say,
          )
        : await embeddedCluster(terminal, port, say);
    const end = new AbortController();
    const session = new DevSession({
      project,
      cluster,
      env: terminal.env,
      say,
      signal: AbortSignal.any([terminal.signal, end.signal]),
      ...(cluster.server === undefined
        ? {}
        : {
            webhooksBefore: new WebhooksBefore(cluster.client, recordFile(terminal.folder, cluster.server)),
          }),
    });
    const running = session.run();
    if (options["exit-when-ready"]) {
      try {
        await Promise.race([session.ready, running]);
        terminal.signal.throwIfAborted();
        say("ready", `in ${Math.round(performance.now() - began)} ms`);
      } finally {
        end.abort();
        await running;
      }
    }
    await running;
  },
});

interface Choices {
  readonly cluster?: boolean;
  readonly port?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly "webhook-host"?: string;
  readonly tunnel?: boolean;
  readonly "tunnel-image"?: string;
}

/** How webhooks are called. */
function webhooksOf({ "webhook-host": host, tunnel, "tunnel-image": image = defaultTunnelImage }: Choices) {
  if (host !== undefined) return { host };
  return tunnel === true ? { tunnelImage: image } : undefined;
}

/** @throws UsageError for options that exclude each other */
function checkChoices({ cluster, port, ...rest }: Choices): void {
  if (cluster === true && port !== undefined)
    throw new UsageError("--port is of an API server of its own; leave it out, or --cluster");
  if (rest.tunnel === true && rest["webhook-host"] !== undefined)
    throw new UsageError(
      "--tunnel is for a machine that the cluster does not reach; leave it out, or --webhook-host",
    );
  if (rest.tunnel !== true && rest["tunnel-image"] !== undefined)
    throw new UsageError("--tunnel-image is of a tunnel: add --tunnel");
  for (const name of ["context", "namespace", "webhook-host", "tunnel"] as const)
    if (cluster !== true && rest[name] !== undefined)
      throw new UsageError(`--${name} is for a cluster that is there already: add --cluster`);
}

/** Where it is kept whom a cluster called: there may be several clusters. */
function recordFile(folder: string, server: string): string {
  const id = createHash("sha256").update(server).digest("hex").slice(0, 8);
  return resolve(folder, ".windlass", `webhooks-before-${id}.json`);
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d+$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new UsageError(`--port must be a number from 0 to 65535, not ${JSON.stringify(given)}`);
}

/** Reports what happens, for programs. */
function jsonSayer({ stdout }: Terminal, began: number): (what: string, words: string) => void {
  return (what, words) => {
    const atMs = Math.round(performance.now() - began);
    stdout.write(`${JSON.stringify({ atMs, what, words })}\n`);
  };
}

/** Reports what happens in lines of three columns: when, to what, and what it was. */
function sayer(terminal: Terminal, began: number): (what: string, words: string) => void {
  const style = styler(terminal, terminal.stdout);
  return (what, words) => {
    const seconds = ((performance.now() - began) / 1_000).toFixed(3).padStart(8);
    const isBad = what === "error" || what === "operator";
    terminal.stdout.write(
      `${style("dim", seconds)}  ${style(isBad ? "yellow" : "cyan", what.padEnd(14))} ${words}\n`,
    );
  };
}
