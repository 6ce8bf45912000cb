import { resolve } from "node:path";
import { command } from "../command.ts";
import { differences, essential } from "../diff/differences.ts";
import type { PlannedWrite } from "../diff/dry-run.ts";
import { CommandError } from "../errors.ts";
import { configFile, loadOperator } from "../generate/load.ts";
import { yaml } from "../generate/yaml.ts";
import { millisecondsIn } from "../parse.ts";
import { styler, type Terminal, withProgress } from "../terminal.ts";

/** `windlass diff` */
export const diff = command({
  name: "diff",
  summary: "show what reconciling would change in a cluster now, changing nothing",
  description: `
Runs the controllers of ${configFile} on the objects that the cluster has, as the operator
does, but has the API server decide about each write without storing it (dry run). Shows
which objects would be created, changed field by field, or deleted: before a new version of
an operator is rolled out, or to learn why it keeps writing.

Nothing changes in the cluster. But the reconcilers do run: calls to anything other than the
API server take effect. What only comes after something else has happened (a child after
another is ready) is not shown before it has. Needs the operator's rights, and no lease.`,
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
      describe: "only objects of this namespace",
      otherwise: "those that the operator watches",
    },
    timeout: { type: "string", value: "SECONDS", describe: "how long it may take", otherwise: "60" },
    check: { type: "boolean", describe: "exit with 1 if anything would change, or failed" },
    config: {
      type: "string",
      value: "FILE",
      describe: "the declaration of the operator",
      otherwise: configFile,
      completion: "files",
    },
    json: {
      type: "boolean",
      describe: "print each write as JSON, one a line, with the object before and after; and each error",
    },
  },
  examples: [
    { line: "windlass diff", what: "in the folder of an operator" },
    {
      line: "windlass diff --namespace shop --check",
      what: "in CI: exits with 1 unless everything is settled",
    },
  ],
  async run({ options }, terminal) {
    const timeoutMs = millisecondsIn("--timeout", options.timeout ?? "60");
    const operator = await loadOperator(resolve(terminal.folder, options.config ?? configFile));
    const namespaces = options.namespace === undefined ? operator.namespaces : [options.namespace];
    const [{ connect }, { preview, wordsOf }] = await Promise.all([
      import("@windlass/client"),
      import("../diff/preview.ts"),
    ]);
    await using client = await connect({
      env: terminal.env,
      ...(options.context === undefined ? {} : { context: options.context }),
    });
    const { writes, complaints } = await withProgress(terminal, "Reconciling without writing", () =>
      preview({
        client,
        controllers: operator.manager.controllers,
        timeoutMs,
        signal: terminal.signal,
        ...(namespaces === undefined ? {} : { namespaces }),
      }),
    );
    const changes = writes.map(changeOf).filter((one) => one.does !== "update" || one.fields.length > 0);
    const errors = complaints.filter(({ is }) => is === "error").length;
    if (options.json === true)
      for (const one of [...complaints, ...changes]) terminal.stdout.write(`${JSON.stringify(one)}\n`);
    else {
      for (const one of complaints) terminal.stderr.write(`${wordsOf(one)}\n`);
      const show = shower(terminal);
      for (const change of changes) terminal.stdout.write(show(change));
      terminal.stdout.write(`${summary(changes.length, errors)}\n`);
    }
    if (options.check !== true || changes.length + errors === 0) return;
    throw new CommandError(
      [
        ...(changes.length === 0 ? [] : [`reconciling would change ${counted(changes.length, "object")}`]),
        ...(errors === 0 ? [] : [`reconciling ended with ${counted(errors, "error")}`]),
      ].join(", and "),
    );
  },
});

interface Change {
  readonly does: PlannedWrite["does"];
  /** `Deployment shop/web` */
  readonly what: string;
  readonly fields: ReturnType<typeof differences>;
  readonly before: unknown;
  readonly after: unknown;
}

function changeOf({ path, does, ...write }: PlannedWrite): Change {
  const [before, after] = [essential(write.before), essential(write.after)];
  return { does, what: nameOf(path, after ?? before), fields: differences(before, after), before, after };
}

/** What kubectl would call it, with the part that is written. */
function nameOf(path: string, object: unknown): string {
  const { kind, metadata } = object as {
    readonly kind?: string;
    readonly metadata?: { readonly name?: string; readonly namespace?: string };
  };
  const { name = "", namespace } = metadata ?? {};
  const [, part] = new RegExp(`/${name.replaceAll(".", "\\.")}/([a-z]+)$`).exec(path) ?? [];
  return `${kind ?? path} ${namespace === undefined ? "" : `${namespace}/`}${name}${part === undefined ? "" : ` (${part})`}`;
}

function shower(terminal: Terminal): (change: Change) => string {
  const style = styler(terminal, terminal.stdout);
  return ({ does, what, fields, after }) => {
    if (does === "delete") return `${style("red", `- ${what}`)}\n`;
    if (does === "create") {
      const lines = yaml(after).trimEnd().split("\n");
      return `${style("green", `+ ${what}`)}\n${lines.map((line) => `    ${line}\n`).join("")}`;
    }
    const lines = fields.map(
      ({ path, before, after: then }) =>
        `    ${path}: ${style("red", text(before))} → ${style("green", text(then))}\n`,
    );
    return `${style("yellow", `~ ${what}`)}\n${lines.join("")}`;
  };
}

/** What a reconcile that failed would have written is not known. */
function summary(changes: number, errors: number): string {
  if (errors === 0) return changes === 0 ? "Nothing would change." : counted(changes, "write");
  if (changes === 0) return `Not known what would change: ${counted(errors, "error")}`;
  return `${counted(changes, "write")}, but not all went well: ${counted(errors, "error")}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function text(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}
