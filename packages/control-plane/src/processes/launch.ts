import { type ChildProcess, spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { constants as systemConstants } from "node:os";
import { isAbsolute, join } from "node:path";
import { type FileView, inView, type Mount } from "./file-view.ts";

/** All there is to know to start a program in a container. */
export interface ContainerPlace {
  readonly env: ReadonlyMap<string, string>;
  readonly directory: string;
  readonly mounts: readonly Mount[];
  /**
   * How the mounts get to their paths; undefined where there are none, or where they are left
   * elsewhere.
   */
  readonly view: { readonly tool: readonly string[]; readonly files: FileView } | undefined;
}

/** Starts a program in a container, in a process group of its own. */
export function launch(
  place: ContainerPlace,
  command: readonly string[],
  stdin: "pipe" | "ignore",
): ChildProcess {
  const { env, directory, view } = place;
  const [program = "", ...args] = view ? inView(view.tool, view.files, directory, command) : command;
  return spawn(program, args, {
    env: Object.fromEntries(env),
    // In a view, the directory may be one that only the view has.
    ...(view ? {} : { cwd: directory }),
    detached: true,
    stdio: [stdin, "pipe", "pipe"],
  });
}

/**
 * A command with a terminal of its own, which the `script` program makes.
 *
 * @param size of the terminal, as clients send it: `{"Width":80,"Height":24}`
 */
export function withTerminal(command: readonly string[], size: string): string[] {
  const [, width] = /"Width":(\d{1,5})/.exec(size) ?? [];
  const [, height] = /"Height":(\d{1,5})/.exec(size) ?? [];
  const resize = width && height ? `stty cols ${width} rows ${height}; ` : "";
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return ["script", "-qefc", `${resize}exec ${words}`, "/dev/null"];
}

/**
 * Why a command cannot be run, in the words of container runtimes; undefined if nothing speaks
 * against it.
 */
export async function commandFault(
  { env, mounts, directory }: ContainerPlace,
  command: readonly string[],
): Promise<string | undefined> {
  const [program] = command;
  if (program === undefined || program === "") return "no command specified";
  if (program.includes("/")) {
    const path = isAbsolute(program) ? program : join(directory, program);
    if (mounts.some((mount) => path.startsWith(`${mount.path}/`))) return undefined;
    return (await isExecutable(path))
      ? undefined
      : `exec: "${program}": stat ${path}: no such file or directory`;
  }
  for (const part of (env.get("PATH") ?? "").split(":")) {
    if (part !== "" && (await isExecutable(join(part, program)))) return undefined;
  }
  return `exec: "${program}": executable file not found in $PATH`;
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The exit code that a shell would give. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code;
  return 128 + (signal === null ? 0 : systemConstants.signals[signal]);
}
