import { glob, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { build, type Plugin } from "rolldown";
import { templateFiles } from "../../packages/cli/src/create/template-files.ts";
import { root } from "./source-packages.ts";

const controlPlane = join(root, "packages", "control-plane");
const cli = join(root, "packages", "cli");
const manager = join(root, "packages", "runtime", "src", "manager");

/**
 * The modules that reach for a file beside them, and what takes their place in a built package. A user's bundler moves modules and leaves
 * files behind, so in what is published the files are inside of the modules.
 */
const replacements: ReadonlyMap<string, () => Promise<string>> = new Map([
  [join(manager, "lease-worker.ts"), leaseWorker],
  [join(controlPlane, "src", "kinds", "data-file.ts"), dataFile],
  [join(cli, "src", "create", "template-files.ts"), operatorTemplate],
]);

/** Puts files that are read at run time into the modules that read them. */
export function embedFiles(): Plugin {
  return {
    name: "embed-files",
    async load(id) {
      return await replacements.get(id)?.();
    },
  };
}

/** The thread that renews the lease, as a URL that contains all of its code. */
async function leaseWorker(): Promise<string> {
  const { output } = await build({
    input: join(manager, "lease-thread.ts"),
    platform: "node",
    write: false,
    plugins: [withoutProtobuf],
    output: { format: "esm", codeSplitting: false, minify: true },
    logLevel: "warn",
  });
  // The name that stack traces show, in the place of the whole URL.
  const code = `${output[0].code}\n//# sourceURL=windlass-lease-thread.js\n`;
  return `
    const code = ${JSON.stringify(code)};
    export function leaseThreadUrl() {
      return new URL("data:text/javascript," + encodeURIComponent(code));
    }`;
}

/** The thread asks for JSON alone. What is known of protobuf messages would be three quarters of its code. */
const withoutProtobuf: Plugin = {
  name: "without-protobuf",
  load: (id) =>
    id.endsWith("/client/src/protobuf/read-status.ts")
      ? "export const readStatus = () => Promise.resolve(undefined);"
      : undefined,
};

/** What was recorded of a real server, still compressed: a file is unpacked when it is first read. */
async function dataFile(): Promise<string> {
  const data = join(controlPlane, "data");
  const files: Record<string, string> = {};
  const paths = (await Array.fromAsync(glob("**/*.json.gz", { cwd: data }))).toSorted();
  for (const path of paths.filter((one) => !one.includes("golden"))) {
    const name = relative(".", path).slice(0, -".json.gz".length);
    files[name] = await readFile(join(data, path), "base64");
  }
  return `
    const files = ${JSON.stringify(files)};
    export function readDataFile(name) {
      return Buffer.from(files[name], "base64");
    }`;
}

/** The files of a new operator. */
async function operatorTemplate(): Promise<string> {
  return `
    const files = ${JSON.stringify([...(await templateFiles())])};
    export function templateFiles() {
      return Promise.resolve(new Map(files));
    }`;
}
