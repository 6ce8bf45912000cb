import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { command } from "../command.ts";
import { CommandError } from "../errors.ts";

/** `windlass assets` */
export const assets = command({
  name: "assets",
  summary: "print a folder for KUBEBUILDER_ASSETS: a Kubernetes API server for test suites in any language",
  description: `
Prints the path of a folder with two programs, etcd and kube-apiserver, as envtest looks for
them: what runs is the API server of this package, which starts in a fraction of a second.
Suites of Go's controller-runtime, and all others that start these programs, run on it
unchanged. There are no controllers and no nodes, as with the real ones.

The folder is made once, and stays for as long as the package is where it is now.`,
  options: {
    json: { type: "boolean", describe: "print the folder, and the programs in it, as JSON" },
  },
  examples: [
    { line: "export KUBEBUILDER_ASSETS=$(npx windlass assets) && go test ./...", what: "a suite in Go" },
  ],
  endsAtOnce: true,
  async run({ options }, { stdout, env }) {
    const folder = await makeFolder({ ...env });
    const programs = { etcd: join(folder, "etcd"), "kube-apiserver": join(folder, "kube-apiserver") };
    stdout.write(
      options.json === true ? `${JSON.stringify({ folder, programs }, null, 2)}\n` : `${folder}\n`,
    );
  },
});

/** @throws CommandError with what the control plane's program says, if it cannot make the folder */
async function makeFolder(env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [controlPlane(), "assets"], { env });
    return stdout.trim();
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    if (said === "") throw error;
    throw new CommandError(said.replace(/^assets: /, ""), { cause: error });
  }
}

/** The program of the control plane that is installed beside this one. */
function controlPlane(): string {
  const require = createRequire(realpathSync(process.argv[1] ?? ""));
  const manifest = require.resolve("@windlass/control-plane/package.json");
  return join(dirname(manifest), "bin", "windlass-control-plane.js");
}
