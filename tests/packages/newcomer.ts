import { execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { root } from "../../scripts/packaging/source-packages.ts";
import type { Tarball } from "../../scripts/packaging/tarballs.ts";
import { startRegistry } from "./registry.ts";

/** What a program said, and how long it took. */
export interface Finished {
  readonly output: string;
  readonly tookMs: number;
}

/** A program that runs. */
export interface Running {
  /** All that it has said so far. */
  output(): string;
  /** Resolves when it has said this. Rejects if it ends before. */
  says(words: string): Promise<void>;
  /** Ends it, and resolves when it has ended. */
  end(): Promise<void>;
}

/** A user with Node and npm, an empty folder, and a registry that has our packages. */
export interface Newcomer extends AsyncDisposable {
  readonly home: string;
  /** Runs a program to its end. @throws Error with all that it said, if it fails */
  run(folder: string, program: string, ...args: readonly string[]): Promise<Finished>;
  start(
    folder: string,
    program: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Running;
}

/** Begins with nothing. */
export async function newcomer(tarballs: readonly Tarball[]): Promise<Newcomer> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), "windlass-newcomer-"));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const registry = stack.use(await startRegistry(tarballs, upstream()));
  const env = await environment(home, registry.url);
  const kept = stack.move();
  return {
    home,
    run: (folder, program, ...args) => runToEnd(program, args, { cwd: folder, env }),
    start: (folder, program, args, more = {}) =>
      start(program, args, { cwd: folder, env: { ...env, ...more } }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Where packages come from that are not ours. */
function upstream(): string {
  return execFileSync("npm", ["config", "get", "registry"], { cwd: root, encoding: "utf8" }).trim();
}

/**
 * Nothing but Node and npm: no tool of this repository is found by chance, and nothing that was
 * downloaded before.
 */
async function environment(home: string, registry: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(home, "bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  const npm = dirname(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
  const network = /^(?:https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(?:file|dir))$/i;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => network.test(name))),
    PATH: [bin, npm, "/usr/bin", "/bin"].join(delimiter),
    HOME: home,
    NO_COLOR: "1",
    npm_config_registry: registry,
    npm_config_cache: join(home, "cache"),
    npm_config_fund: "false",
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
    npm_config_yes: "true",
  };
}

async function runToEnd(program: string, args: readonly string[], options: SpawnOptions): Promise<Finished> {
  const began = performance.now();
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0)
    throw new Error(
      `${[program, ...args].join(" ")} in ${String(options.cwd)} ended with ${String(code)}:\n${output}`,
    );
  return { output, tookMs: performance.now() - began };
}

function start(program: string, args: readonly string[], options: SpawnOptions): Running {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const heard = new EventTarget();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      heard.dispatchEvent(new Event("words"));
    });
  child.once("close", () => resolve());
  return {
    output: () => output,
    says: (words) =>
      new Promise((said, reject) => {
        const look = () => output.includes(words) && said();
        heard.addEventListener("words", look);
        look();
        void ended.then(() => reject(new Error(`it ended and never said ${words}:\n${output}`)));
      }),
    end: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
