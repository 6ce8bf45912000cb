import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "rolldown";
import { templateFiles } from "../../packages/cli/src/create/template-files.ts";
import { root } from "./source-packages.ts";

const controlPlane = join(root, "packages", "control-plane");
const kinds = join(root, "packages", "kinds");
const cli = join(root, "packages", "cli");
const manager = join(root, "packages", "runtime", "src", "manager");

/**
 * The modules that reach for a file beside them, and what takes their place in a built package. A
 * user's bundler moves modules and leaves files behind, so in what is published the files are
 * inside of the modules.
 */
const replacements: ReadonlyMap<string, () => Promise<string>> = new Map([
  [join(manager, "lease-worker.ts"), leaseWorker],
  [join(kinds, "src", "recorded-text.ts"), recordedText],
  [join(controlPlane, "src", "patterns", "worker-url.ts"), patternWorker],
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

/** The thread that renews the lease. */
function leaseWorker(): Promise<string> {
  return threadModule("leaseThreadUrl", join(manager, "lease-thread.ts"), "windlass-lease-thread.js");
}

/** The thread that matches patterns. */
function patternWorker(): Promise<string> {
  const worker = join(controlPlane, "src", "patterns", "worker.ts");
  return threadModule("patternWorkerUrl", worker, "windlass-pattern-worker.js");
}

/**
 * A module whose one function gives the code of a thread as a URL that contains all of it.
 *
 * @param shown The name that stack traces show, in the place of the whole URL.
 */
async function threadModule(functionName: string, input: string, shown: string): Promise<string> {
  const { output } = await build({
    input,
    platform: "node",
    write: false,
    plugins: [withoutProtobuf],
    output: { format: "esm", codeSplitting: false, minify: true },
    logLevel: "warn",
  });
  const code = `${output[0].code}\n//# sourceURL=${shown}\n`;
  return `
    const code = ${JSON.stringify(code)};
    export function ${functionName}() {
      return new URL("data:text/javascript," + encodeURIComponent(code));
    }`;
}

/**
 * The thread asks for JSON alone. What is known of protobuf messages would be three quarters of its
 * code.
 */
const withoutProtobuf: Plugin = {
  name: "without-protobuf",
  load: (id) =>
    id.endsWith("/client/src/protobuf/read-status.ts")
      ? "export const readStatus = () => Promise.resolve(undefined);"
      : undefined,
};

/** What was recorded of a real server, compressed: a file is unpacked when it is first read. */
async function recordedText(): Promise<string> {
  const folder = join(kinds, "src", "recorded");
  const files: Record<string, string> = {};
  const paths = (await Array.fromAsync(glob("**/*.json", { cwd: folder }))).toSorted();
  // The types of Go are a module's own, which imports them.
  for (const path of paths.filter((one) => one !== "go-types.json")) {
    const value: unknown = JSON.parse(await readFile(join(folder, path), "utf8"));
    const packed = gzipSync(JSON.stringify(value), { level: 9 });
    files[path.slice(0, -".json".length)] = packed.toString("base64");
  }
  return `
    import { gunzipSync } from "node:zlib";
    const files = ${JSON.stringify(files)};
    export function recordedText(name) {
      return gunzipSync(Buffer.from(files[name], "base64")).toString("utf8");
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
