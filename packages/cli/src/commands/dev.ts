import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { command } from "../command.ts";
import { CommandError, UsageError } from "../errors.ts";
import { styler, type Terminal } from "../terminal.ts";

export const dev = command({
  name: "dev",
  summary: "run an operator from its sources, and show what happens",
  description: `
Starts a Kubernetes API server in this process and runs the operator of this folder on it:
installs the CRDs of the kinds that its module exports, applies its samples, and shows what
becomes of them. When a source changes the operator is started anew; the objects stay.

While it runs, kubectl works with the KUBECONFIG that it names. Ctrl-C ends it.`,
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
      describe: "objects to begin with",
      otherwise: "config/samples",
      completion: "folders",
    },
    port: {
      type: "string",
      value: "PORT",
      describe: "of the API server",
      otherwise: "any that is free",
    },
    json: { type: "boolean", describe: "tell of what happens in lines of JSON" },
    "exit-when-ready": { type: "boolean", describe: "end once every sample is Ready; for scripts" },
  },
  examples: [
    { line: "windlass dev", what: "in the folder of an operator" },
    { line: "windlass dev --exit-when-ready", what: "in CI: ends with 0 once the samples are Ready" },
  ],
  async run({ options }, terminal) {
    const began = performance.now();
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
    const port = portOf(options.port);
    const say = options.json ? jsonSayer(terminal, began) : sayer(terminal, began);
    const [{ ControlPlane }, { Client }, { DevSession }] = await Promise.all([
      import("@windlass/control-plane"),
      import("@windlass/client"),
      import("../dev/session.ts"),
    ]);
    await using plane = await ControlPlane.start();
    say("control plane", `up at ${await plane.listen(port === undefined ? {} : { port })}`);
    const kubeconfig = resolve(terminal.folder, ".windlass", "kubeconfig");
    await mkdir(dirname(kubeconfig), { recursive: true });
    await writeFile(kubeconfig, await plane.kubeconfig(), { mode: 0o600 });
    say("control plane", `export KUBECONFIG=${relative(terminal.folder, kubeconfig)}   for kubectl`);

    await using client = new Client({ transport: plane.connect(), fieldManager: "windlass-dev" });
    const end = new AbortController();
    const env = { ...terminal.env, KUBECONFIG: kubeconfig };
    const signal = AbortSignal.any([terminal.signal, end.signal]);
    const session = new DevSession(project, { client, env }, say, signal);
    const running = session.run();
    if (options["exit-when-ready"]) {
      try {
        await Promise.race([session.ready, running]);
        say("ready", `in ${Math.round(performance.now() - began)} ms`);
      } finally {
        end.abort();
        await running;
      }
    }
    await running;
  },
});

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d+$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new UsageError(`--port must be a number from 0 to 65535, not ${JSON.stringify(given)}`);
}

/** Tells of what happens for programs. */
function jsonSayer({ stdout }: Terminal, began: number): (what: string, words: string) => void {
  return (what, words) => {
    const atMs = Math.round(performance.now() - began);
    stdout.write(`${JSON.stringify({ atMs, what, words })}\n`);
  };
}

/** Tells of what happens in lines of three columns: when, to what, and what it was. */
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
