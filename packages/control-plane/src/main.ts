import { flagHelp } from "./envtest/flags.ts";

/**
 * The commands of `windlass-control-plane`, by its first argument. Each is loaded when it is
 * asked for: --help must be quick.
 */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  assets: async () => {
    const { makeAssets } = await import("./envtest/assets.ts");
    process.stdout.write(`${makeAssets(process.argv[1] ?? "")}\n`);
  },
  etcd: async (args) => {
    const { runEtcd } = await import("./envtest/etcd.ts");
    await runEtcd(args);
  },
  "kube-apiserver": async (args) => {
    const { apiServerFlags } = await import("./envtest/api-server-flags.ts");
    if (args.some((arg) => arg === "--help" || arg === "-h")) {
      process.stdout.write(flagHelp("kube-apiserver", apiServerFlags));
    } else if (args.some((arg) => /^--version(=true)?$/.test(arg))) {
      const { kubernetesVersion } = await import("./kinds/index.ts");
      process.stdout.write(`Kubernetes ${kubernetesVersion().gitVersion}\n`);
    } else {
      const { runApiServer } = await import("./envtest/api-server.ts");
      await runApiServer(args);
    }
  },
};

const [first = "", ...rest] = process.argv.slice(2);
const command = Object.hasOwn(commands, first) ? commands[first] : undefined;
if (command) {
  try {
    await command(rest);
  } catch (error) {
    process.stderr.write(`${first}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
} else {
  const { serveCommand } = await import("./serve-command.ts");
  await serveCommand(process.argv.slice(2));
}
