import { type ChildProcess, spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { variables } from "./options.ts";

/**
 * Waits for the end of its input, which comes however the control plane ends, and then ends what is
 * left: the groups it was given, and everything that carries the control plane's mark, whatever
 * group it has moved to. It looks until it finds nothing twice in a row: what was being started
 * a moment ago shows its mark only now. Their files go last.
 */
const script = `trap '' INT TERM HUP
groups=
while read -r what group; do
  case $what in
    add) groups="$groups $group" ;;
    remove) groups=$(for one in $groups; do [ "$one" = "$group" ] || printf '%s ' "$one"; done) ;;
  esac
done
for group in $groups; do kill -9 -- "-$group" 2>/dev/null; done
quiet=0
while [ -d /proc/self ] && [ "$quiet" -lt 2 ]; do
  quiet=$((quiet + 1))
  for file in $(grep -lszxF "$1" /proc/[0-9]*/environ); do
    process=\${file#/proc/}
    kill -9 "\${process%/environ}" 2>/dev/null && quiet=0
  done
  sleep 0.02
done
rm -rf -- "$2"
`;

/** Makes sure that no process outlives its control plane, not even one that is killed itself. */
export class Reaper {
  readonly #owner: string;
  readonly #directory: string;
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;
  #closing = false;

  /**
   * @param owner what every process of this control plane has in `WINDLASS_OWNER`
   * @param directory where their files are, which are removed in the end
   */
  constructor(owner: string, directory: string) {
    this.#owner = owner;
    this.#directory = directory;
  }

  /** Must be called before the first process is started. */
  start(): void {
    if (this.#child || this.#closing) return;
    const mark = `${variables.owner}=${this.#owner}`;
    const child = spawn("/bin/sh", ["-c", script, "windlass-reaper", mark, this.#directory], {
      // A session of its own: Ctrl-C in a terminal is not for it.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
    });
    child.unref();
    this.#child = child;
    const again = () => {
      if (this.#child !== child) return;
      this.#child = undefined;
      this.start();
    };
    child.on("error", () => undefined);
    child.once("exit", again);
    child.stdin.on("error", () => undefined);
    (child.stdin as unknown as { unref?: () => void }).unref?.();
    for (const group of this.#groups) child.stdin.write(`add ${group}\n`);
  }

  add(group: number): void {
    this.#groups.add(group);
    this.#child?.stdin?.write(`add ${group}\n`);
  }

  remove(group: number): void {
    this.#groups.delete(group);
    this.#child?.stdin?.write(`remove ${group}\n`);
  }

  /** Ends everything that is left. Resolves once it is gone. */
  async close(): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    child.ref();
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.stdin?.end();
    await ended;
  }
}

/**
 * Ends the processes of a container that moved to process groups of their own. Their mark is
 * inherited, so they are found; where there is no `/proc`, they are not.
 */
export async function sweep(name: string, value: string): Promise<void> {
  if (process.platform !== "linux") return;
  const mark = `${name}=${value}`;
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    const environment = await readFile(`/proc/${entry}/environ`, "latin1").catch(() => "");
    if (environment.split("\0").includes(mark)) endProcess(Number(entry), "SIGKILL");
  }
}

/**
 * Sends a signal to a process, or with a negative number to a group, that may have ended already.
 */
export function endProcess(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // A process that we may not signal is not ours any more.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
