import { dirname, resolve } from "node:path";
import { command } from "../command.ts";
import { CommandError } from "../errors.ts";
import type { Stale } from "../generate/files.ts";
import { configFile, loadOperator } from "../generate/load.ts";
import { styler, type Terminal, withProgress } from "../terminal.ts";

/** `windlass generate` */
export const generate = command({
  name: "generate",
  summary: "write all that an operator needs in a cluster: CRDs, roles, Deployment, chart …",
  description: `
Writes what installs an operator, from its code and from what ${configFile} says of it:
  config/base        CRDs, roles with the rights that its controllers need and no others,
                     Deployment, PodDisruptionBudget, Services, webhooks, NetworkPolicy
  config/default     the same, with its namespace: kubectl apply --server-side -k config/default
  config/monitoring  ServiceMonitor, alerts for Prometheus, a dashboard for Grafana
  chart              a Helm chart of all of it, whose values are checked by a schema

All of it is applied once to an API server in this process, so that what a cluster would
refuse is found now. The same code gives the same files: commit them, and let CI run
--check. Generated files that are no longer needed are deleted; samples, overlays and
templates of your own may stand beside them.`,
  options: {
    config: {
      type: "string",
      value: "FILE",
      describe: "the declaration of the operator",
      otherwise: configFile,
      completion: "files",
    },
    check: { type: "boolean", describe: "write nothing; exit with 1 if a file is out of date" },
    json: { type: "boolean", describe: "print what changed as JSON" },
  },
  examples: [
    { line: "windlass generate", what: "in the folder of an operator" },
    { line: "windlass generate --check", what: "in CI: exits with 1 if someone forgot to generate" },
  ],
  endsAtOnce: true,
  async run({ options }, terminal) {
    const file = resolve(terminal.folder, options.config ?? configFile);
    const folder = dirname(file);
    const operator = await loadOperator(file);
    const { generatedFiles, staleFiles, writeFiles } = await import("../generate/files.ts");
    const files = generatedFiles(operator);
    const stale = options.check === true ? await staleFiles(folder, files) : undefined;
    if (stale === undefined) {
      const { checkAccepted } = await import("../generate/accepted.ts");
      await withProgress(terminal, "Trying it on an API server", () => checkAccepted(files));
    }
    const changed = stale ?? (await writeFiles(folder, files));
    if (options.json === true)
      terminal.stdout.write(`${JSON.stringify({ files: [...files.keys()], changed }, null, 2)}\n`);
    else terminal.stdout.write(summary(changed, files.size, terminal));
    if (stale !== undefined && stale.length > 0)
      throw new CommandError(
        `${stale.length} of ${files.size} files are not what the code says: run npx windlass generate, and commit them`,
      );
  },
});

function summary(changed: readonly Stale[], count: number, terminal: Terminal): string {
  const style = styler(terminal, terminal.stdout);
  const lines = changed.map((one) => {
    if (one.is === "missing") return `${style("green", "new")}       ${one.path}`;
    if (one.is === "left over") return `${style("red", "left over")} ${one.path}`;
    return `${style("yellow", "changed")}   ${one.path} (+${one.added} -${one.removed})`;
  });
  return `${[...lines, `${count} files, ${changed.length} changed`].join("\n")}\n`;
}
