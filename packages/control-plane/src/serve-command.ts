import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ControlPlane, type ControlPlaneOptions } from "./control-plane.ts";
import { type ControllerName, controllerNames } from "./controllers/index.ts";
import { fileErrorWords } from "./file-error.ts";
import type { ImageProgram, ProcessOptions } from "./processes/index.ts";

const usage = `Usage: windlass-control-plane --kubeconfig FILE [options]
       windlass-control-plane assets

A Kubernetes API server in one process, for developing and testing operators. Runs until it is stopped.

  assets               print a folder with kube-apiserver and etcd for KUBEBUILDER_ASSETS, for tests in any language

  --kubeconfig FILE    write a kubeconfig for kubectl and other clients here
  --port N             listen on this port (default: any free one, or the one it had before with --data)
  --host ADDRESS       listen on this address (default: 127.0.0.1)
  --data FILE          keep everything in this file, and go on from there (default: keep nothing)
  --controllers LIST   run these controllers beside the server: all, none, or names with commas between (default: all)
  --nodes N            how many simulated nodes pods run on (default: 1; none with --controllers none)
  --service NAMESPACE/NAME:PORT=URL
                       where webhooks that name this Service are called; may be given several times
  --processes          run a real process for each container, as the user that runs this (default: pods are simulated)
  --image NAME=COMMAND what to run for containers of an image that name no command; may be given several times
  -h, --help           show this
`;

/** What the command line asks for. */
interface ServeOptions {
  readonly kubeconfig: string;
  readonly listen: { readonly host?: string; readonly port?: number };
  readonly plane: ControlPlaneOptions;
  readonly services: readonly BoundService[];
}

/** A Service that webhooks name, and where it is. */
interface BoundService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly url: string;
}

/** Bad usage: explained, and the process ends with 2. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A file that cannot be where the command line wants it: found out before anything is started. */
class PlaceError extends Error {
  override readonly name = "PlaceError";
}

async function readOptions(args: readonly string[]): Promise<ServeOptions | "help"> {
  const values = parse(args);
  if (values.help) return "help";
  const { kubeconfig, port, host, data, controllers, nodes, image = [], service = [] } = values;
  for (const name of texts) {
    if (values[name] === "") throw new UsageError(`--${name} must not be empty`);
  }
  if (kubeconfig === undefined) throw new UsageError("--kubeconfig FILE is needed");
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) <= 65_535)) {
    throw new UsageError(`--port must be a number from 0 to 65535, not ${JSON.stringify(port)}`);
  }
  if (nodes !== undefined && !/^[1-9]\d{0,3}$/.test(nodes)) {
    throw new UsageError(`--nodes must be a number from 1 to 9999, not ${JSON.stringify(nodes)}`);
  }
  checkPlace("kubeconfig", kubeconfig);
  if (data !== undefined) checkPlace("data", data);
  return {
    kubeconfig,
    listen: {
      ...(port === undefined ? {} : { port: Number(port) }),
      ...(host === undefined ? {} : { host }),
    },
    plane: {
      ...(data === undefined ? {} : { data }),
      ...(controllers === undefined ? {} : { controllers: readControllers(controllers) }),
      ...(nodes === undefined ? {} : { nodes: Number(nodes) }),
      ...(values.processes || image.length > 0 ? { processes: { images: readImages(image) } } : {}),
    },
    services: service.map(readService),
  };
}

function parse(args: readonly string[]): Partial<Record<(typeof texts)[number], string>> & {
  help?: boolean;
  processes?: boolean;
  image?: string[];
  service?: string[];
} {
  try {
    return parseArgs({
      args: [...args],
      options: {
        kubeconfig: { type: "string" },
        port: { type: "string" },
        host: { type: "string" },
        data: { type: "string" },
        controllers: { type: "string" },
        processes: { type: "boolean" },
        nodes: { type: "string" },
        image: { type: "string", multiple: true },
        service: { type: "string", multiple: true },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const texts = ["kubeconfig", "port", "host", "data", "controllers", "nodes"] as const;

function checkPlace(option: "kubeconfig" | "data", path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new PlaceError(`--${option}: ${path} is a folder: name a file`);
  }
  const folder = dirname(resolve(path));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new PlaceError(`--${option}: there is no folder ${folder}: make it, or name a file elsewhere`);
  }
}

/** The shell takes the command apart; arguments of the container follow. */
function readImages(given: readonly string[]): NonNullable<ProcessOptions["images"]> {
  const images = given.map((text): [string, ImageProgram] => {
    const [, name = "", command = ""] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (name === "") throw new UsageError(`--image must be NAME=COMMAND, not ${JSON.stringify(text)}`);
    return [name, { command: ["/bin/sh", "-c", `exec ${command} "$@"`, name] }];
  });
  return Object.fromEntries(images);
}

function readService(text: string): BoundService {
  const [, namespace = "", name = "", port = "", url = ""] =
    /^([a-z0-9-]+)\/([a-z0-9-]+):(\d{1,5})=(https?:\/\/.+)$/.exec(text) ?? [];
  if (url === "" || !URL.canParse(url)) {
    throw new UsageError(`--service must be NAMESPACE/NAME:PORT=URL, not ${JSON.stringify(text)}`);
  }
  return { namespace, name, port: Number(port), url };
}

function readControllers(list: string): NonNullable<ControlPlaneOptions["controllers"]> {
  if (list === "all" || list === "none") return list;
  const isKnown = (name: string): name is ControllerName => controllerNames.includes(name as ControllerName);
  const names = list.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !isKnown(name));
  if (unknown.length > 0) {
    throw new UsageError(
      `--controllers: there is no ${unknown.join(", ")}. There are: ${controllerNames.join(", ")}, or all, or none`,
    );
  }
  return names.filter(isKnown);
}

/** Errors that say all there is to say; anything else comes with its stack. */
function explain(error: unknown): string {
  const { code, message, name, port, path } = error as NodeJS.ErrnoException & { port?: number };
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use: choose another with --port, or leave it out for any free one`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `cannot listen there: ${message}. --host must be an address of this machine`;
    case "EACCES":
      return path === undefined ? `port ${port} needs more rights: choose one above 1023` : message;
    case "ENOENT":
    case "EISDIR":
    case "EROFS":
      return message;
    default:
      return name === "DataFileError" ||
        name === "UsageError" ||
        name === "PlaceError" ||
        name === "CertificateError"
        ? message
        : String((error as Error).stack ?? error);
  }
}

async function writeKubeconfig(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw new PlaceError(`--kubeconfig: ${path} could not be written: ${fileErrorWords(error)}`, {
      cause: error,
    });
  });
}

async function run(parsed: ServeOptions): Promise<void> {
  const plane = await ControlPlane.start(parsed.plane);
  for (const { namespace, name, port, url } of parsed.services) plane.bindService(namespace, name, port, url);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= plane.close();
    void stopping.then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  let url: string;
  try {
    url = await plane.listen(parsed.listen);
    await writeKubeconfig(parsed.kubeconfig, await plane.kubeconfig());
  } catch (error) {
    await plane.close();
    throw error;
  }
  process.stdout.write(
    `ready in ${Math.round(performance.now())} ms\nat ${url}: export KUBECONFIG=${resolve(parsed.kubeconfig)}\n`,
  );
}

/**
 * Runs `windlass-control-plane` with no command named: an API server for kubectl and other clients.
 */
export async function serveCommand(args: readonly string[]): Promise<void> {
  try {
    const parsed = await readOptions(args);
    if (parsed === "help") process.stdout.write(usage);
    else await run(parsed);
  } catch (error) {
    process.stderr.write(`windlass-control-plane: ${explain(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${usage}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
