import { spawn } from "node:child_process";

/** One call of kubectl. `{ns}` in arguments and input stands for the namespace of the run. */
export interface Invocation {
  readonly args: readonly string[];
  /** Goes to standard input. */
  readonly input?: string;
  /** Calls again until the output holds this, for what takes a while. */
  readonly until?: RegExp;
  /** Its output is not compared: it only brings about what follows. */
  readonly quiet?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Ends a call that would never end, once it has printed so many lines. */
  readonly events?: number;
  /**
   * Calls made one after the other while this one runs, once it has printed something or a moment
   * has passed.
   */
  readonly meanwhile?: readonly (readonly string[])[];
}

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const patienceMs = 60_000;

/** Runs kubectl with its own caches, so that no call learns from another server's. */
export async function invoke(
  { args, input, until, env, events, meanwhile = [] }: Invocation,
  at: { readonly kubeconfig: string; readonly cache: string; readonly namespace: string },
): Promise<Output> {
  const fill = (text: string) => text.replaceAll("{ns}", at.namespace);
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const common = ["--kubeconfig", at.kubeconfig, "--cache-dir", at.cache, "-n", at.namespace];
    const [output] = await Promise.all([
      run([...common, ...args.map(fill)], {
        input: input === undefined ? "" : fill(input),
        env: env ?? {},
        events,
      }),
      (async () => {
        for (const each of meanwhile) {
          await new Promise((resolve) => setTimeout(resolve, betweenMs));
          await run([...common, ...each.map(fill)], { input: "", env: {}, events: undefined });
        }
      })(),
    ]);
    if (!until || until.test(output.stdout + output.stderr) || Date.now() > deadline) return output;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Watches are given this long to begin, and to print one change before the next. */
const betweenMs = 1_500;

interface Running {
  readonly input: string;
  readonly env: Readonly<Record<string, string>>;
  readonly events: number | undefined;
}

function run(args: readonly string[], { input, env, events }: Running): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.env.KUBECTL ?? "kubectl", args, { env: { ...process.env, ...env } });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let isEnough = false;
    child.stdout.on("data", (chunk: Buffer) => {
      out.push(chunk);
      const lines = Buffer.concat(out).toString().split("\n").length - 1;
      if (events === undefined || isEnough || lines < events) return;
      isEnough = true;
      child.kill("SIGTERM");
    });
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    const giveUp = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(giveUp);
      // How a stopped process ends depends on the moment it was stopped.
      const ended = isEnough ? null : code;
      resolve({ code: ended, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
    child.stdin.end(input);
  });
}
