/** The program that stands for an image. */
export interface ImageProgram {
  /** What runs where a container names no command: the image's entrypoint. */
  readonly command: readonly string[];
  /** What follows where a container gives no arguments and no command. @default none */
  readonly args?: readonly string[];
  /**
   * Variables the image brings, below those of the container. `$(WINDLASS_POD_IP)` is the pod's
   * address.
   *
   * @default none
   */
  readonly env?: { readonly [name: string]: string };
  /** @default the directory that the control plane runs in */
  readonly workingDir?: string;
}

/** What runs for the containers of pods, and where their files are. */
export interface ProcessOptions {
  /**
   * What to run for the containers of an image: a name, with `*` for any run of characters. The
   * first that matches counts. A container with a command of its own needs no entry.
   *
   * @default none
   */
  readonly images?: { readonly [image: string]: ImageProgram };
  /**
   * So many processes run at once, not counting what they start themselves. Further containers
   * wait.
   *
   * @default 100
   */
  readonly most?: number;
  /**
   * How volumes get to their paths. `namespace` gives each container a view of the file system of
   * its own (Linux, no rights needed where user namespaces are allowed); `variable` leaves them
   * under the directory that `WINDLASS_ROOT` names, and programs must look there.
   *
   * @default "namespace"
   */
  readonly mounts?: "namespace" | "variable";
  /**
   * Where the files of volumes are kept while the control plane runs.
   *
   * @default a new directory for temporary files
   */
  readonly directory?: string;
}

/** The most processes at once unless said otherwise. */
export const defaultMost = 100;

/** Variables that every process has. */
export const variables = {
  /** The address of its pod: what to listen on. */
  podAddress: "WINDLASS_POD_IP",
  /** The control plane it belongs to: by this it is found and ended. */
  owner: "WINDLASS_OWNER",
  /** The container it belongs to. */
  container: "WINDLASS_CONTAINER",
  /** Below it are the container's volumes, where they are not at their paths. */
  root: "WINDLASS_ROOT",
} as const;

/** The program for an image; undefined if none is known. */
export function programFor(options: ProcessOptions, image: string): ImageProgram | undefined {
  for (const [pattern, program] of Object.entries(options.images ?? {})) {
    const parts = pattern.split("*").map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
    if (new RegExp(`^${parts.join(".*")}$`).test(image)) return program;
  }
  return undefined;
}
