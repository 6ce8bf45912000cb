import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { command } from "../command.ts";
import type { Finding } from "../doctor/finding.ts";
import { CommandError } from "../errors.ts";
import { configFile, loadOperator } from "../generate/load.ts";
import { styler, type Terminal } from "../terminal.ts";

/** `windlass doctor` */
export const doctor = command({
  name: "doctor",
  summary: "find out why an operator does not work in a cluster, and what to do",
  description: `
Looks at everything that an operator needs, and changes nothing: Node and the packages, the
kubeconfig and its certificate, the API server, and, where ${configFile} declares an
operator, its CRDs, its Deployments, the rights of its service accounts, its lease, and its
webhooks: whether they are installed, trusted, and reachable from the API server.

For each fault it says what to do. Exits with 1 if there is one.`,
  options: {
    context: {
      type: "string",
      value: "CONTEXT",
      describe: "the context of the kubeconfig to use",
      otherwise: "the current one",
    },
    namespace: {
      type: "string",
      short: "n",
      value: "NAMESPACE",
      describe: "where the operator is installed",
      otherwise: "the one that it declares",
    },
    config: {
      type: "string",
      value: "FILE",
      describe: "the declaration of the operator",
      otherwise: configFile,
      completion: "files",
    },
    json: { type: "boolean", describe: "print the findings as JSON, one a line" },
  },
  examples: [
    { line: "windlass doctor", what: "in the folder of an operator" },
    { line: 'windlass doctor --json | grep \'"is":"fault"\'', what: "for scripts: the faults alone" },
  ],
  endsAtOnce: true,
  async run({ options }, terminal) {
    const file = resolve(terminal.folder, options.config ?? configFile);
    if (options.config !== undefined && !existsSync(file)) throw new CommandError(`there is no ${file}`);
    const { examine } = await import("../doctor/examine.ts");
    const findings = examine({
      folder: dirname(file),
      env: terminal.env,
      now: () => Date.now(),
      node: process.versions.node,
      ...(existsSync(file) ? { operator: await loadOperator(file) } : {}),
      ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
      ...(options.context === undefined ? {} : { context: options.context }),
    });
    const show = options.json === true ? (one: Finding) => `${JSON.stringify(one)}\n` : shower(terminal);
    let faults = 0;
    for await (const finding of findings) {
      terminal.stdout.write(show(finding));
      if (finding.is === "fault") faults++;
    }
    if (faults > 0) throw new CommandError(`${faults} ${faults === 1 ? "fault" : "faults"} found`);
  },
});

const marks = { fine: "✓", fault: "✗", warning: "!", skipped: "-" } as const;
const colours = { fine: "green", fault: "red", warning: "yellow", skipped: "dim" } as const;

function shower(terminal: Terminal): (finding: Finding) => string {
  const style = styler(terminal, terminal.stdout);
  return (finding) => {
    const { is, about, words } = finding;
    const line = `${style(colours[is], marks[is])} ${style("bold", about)}: ${words}\n`;
    return "remedy" in finding ? `${line}    → ${finding.remedy}\n` : line;
  };
}
