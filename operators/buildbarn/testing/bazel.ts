import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a build came to. */
export interface Built {
  readonly ok: boolean;
  /** Actions that ran on workers. */
  readonly remote: number;
  /** Actions whose results were found. */
  readonly hits: number;
  readonly seconds: number;
  /** What Bazel wrote. */
  readonly output: string;
}

export interface BuildOptions {
  readonly targets: readonly string[];
  /** Makes other actions of the same rules: results of another salt are not theirs. */
  readonly salt?: string;
  /** How often a call is tried again. Bazel's own default is 5. */
  readonly retries?: number;
  /** More of Bazel's own flags. */
  readonly flags?: readonly string[];
}

/**
 * A real Bazel (Debian's bazel-bootstrap) with a workspace of its own. Nothing is downloaded: rules
 * are genrules.
 *
 * - `//:all_small`: as many small actions as were asked for, each with an input that another action
 *   made
 * - `//:slow`: one action of 20 s
 */
export class Bazel implements AsyncDisposable {
  readonly #directory: string;
  readonly #endpoint: string;

  private constructor(directory: string, endpoint: string) {
    this.#directory = directory;
    this.#endpoint = endpoint;
  }

  /**
   * @param endpoint Of a frontend: `grpc://host:port`.
   * @throws if there is no Bazel on this machine.
   */
  static async start(endpoint: string, actions: number): Promise<Bazel> {
    const directory = await mkdtemp(join(tmpdir(), "buildbarn-bazel-"));
    const workspace = join(directory, "workspace");
    await mkdir(workspace);
    await writeFile(join(workspace, "WORKSPACE"), "");
    await writeFile(join(workspace, "BUILD"), buildFile(actions / 2));
    const bazel = new Bazel(directory, endpoint);
    await bazel.#run(["info", "release"]);
    return bazel;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run(["shutdown"]);
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Builds with nothing kept from earlier builds but what the set has. */
  async build({ targets, salt = "none", retries = 20, flags = [] }: BuildOptions): Promise<Built> {
    await this.#run(["clean"]);
    const began = performance.now();
    const { ok, output } = await this.#run([
      "build",
      `--remote_executor=${this.#endpoint}`,
      "--remote_default_exec_properties=OSFamily=linux",
      "--spawn_strategy=remote",
      "--incompatible_strict_action_env",
      `--action_env=SALT=${salt}`,
      `--remote_retries=${retries}`,
      "--jobs=16",
      "--symlink_prefix=/",
      "--noshow_progress",
      "--color=no",
      ...flags,
      ...targets,
    ]);
    const count = (words: string) => Number(new RegExp(`(\\d+) ${words}[,.]`).exec(output)?.[1] ?? 0);
    return {
      ok,
      remote: count("remote"),
      hits: count("remote cache hit"),
      seconds: (performance.now() - began) / 1_000,
      output,
    };
  }

  /** Builds over and over, what is cached and what is new, until something has happened. */
  async buildUntil(happened: Promise<unknown>, salt: () => string) {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    void happened.then(over, over);
    const cached: Built[] = [];
    const fresh: Built[] = [];
    while (!isOver) {
      cached.push(await this.build({ targets: ["//:all_small"] }));
      fresh.push(await this.build({ targets: ["//:second0"], salt: salt() }));
    }
    await happened;
    return { cached, fresh };
  }

  #run(args: readonly string[]): Promise<{ readonly ok: boolean; readonly output: string }> {
    const startup = [
      `--output_user_root=${join(this.#directory, "root")}`,
      "--max_idle_secs=60",
      "--host_jvm_args=-Xmx512m",
    ];
    const options = {
      cwd: join(this.#directory, "workspace"),
      timeout: 180_000,
      maxBuffer: 16 * 1024 * 1024,
    };
    return new Promise((resolve, reject) => {
      execFile("bazel", [...startup, ...args], options, (error, stdout, stderr) => {
        // Not a build that failed: none would ever do.
        if (error?.code === "ENOENT")
          reject(
            new Error("bazel is not installed: on Debian, apt-get install bazel-bootstrap", { cause: error }),
          );
        else resolve({ ok: error === null, output: `${stdout}${stderr}` });
      });
    });
  }
}

function buildFile(pairs: number): string {
  return `
[genrule(
    name = "first%d" % i,
    outs = ["first%d.txt" % i],
    cmd = "mkdir -p kept/by/action && chmod 755 kept kept/by && echo %d $$SALT > $@" % i,
) for i in range(${pairs})]

[genrule(
    name = "second%d" % i,
    srcs = ["first%d.txt" % i],
    outs = ["second%d.txt" % i],
    cmd = "tr a-z A-Z < $< > $@",
) for i in range(${pairs})]

filegroup(name = "all_small", srcs = ["second%d" % i for i in range(${pairs})])

genrule(name = "slow", outs = ["slow.txt"], cmd = "sleep 20 && echo $$SALT > $@")
`;
}
