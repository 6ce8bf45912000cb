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
}

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl with its own caches, so that no call learns from another server's. */
export async function invoke(
  { args, input, until, env }: Invocation,
  at: { readonly kubeconfig: string; readonly cache: string; readonly namespace: string },
): Promise<Output> {
  const fill = (text: string) => text.replaceAll("{ns}", at.namespace);
  const deadline = Date.now() + 60_000;
  for (;;) {
    const output = await run(
      ["--kubeconfig", at.kubeconfig, "--cache-dir", at.cache, "-n", at.namespace, ...args.map(fill)],
      input === undefined ? "" : fill(input),
      env ?? {},
    );
    if (!until || until.test(output.stdout + output.stderr) || Date.now() > deadline) return output;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function run(args: readonly string[], input: string, env: Readonly<Record<string, string>>): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.env.KUBECTL ?? "kubectl", args, { env: { ...process.env, ...env } });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
    child.stdin.end(input);
  });
}
