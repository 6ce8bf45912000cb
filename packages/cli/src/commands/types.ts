import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { CrdSource } from "@windlass/runtime";
import { command } from "../command.ts";
import { CommandError, UsageError } from "../errors.ts";
import { outputPath } from "../paths.ts";
import { type Terminal, withProgress } from "../terminal.ts";
import { writeWhole } from "../whole-file.ts";

/** `windlass types` */
export const types = command({
  name: "types",
  summary: "write TypeScript for kinds that others define, from their CRDs",
  description: `
Writes TypeScript for custom resources that someone else defines: a type of what the server
returns, one of what may be sent, and a value to give to a controller or a client. From
CustomResourceDefinitions in files (YAML or JSON; - is standard input), or from those of a
cluster by their names.

The code goes to standard output, or with --output into a file for each kind. It imports
types from @windlass/runtime and nothing else.`,
  arguments: { usage: "FILE … | --cluster NAME …", completion: "files" },
  options: {
    cluster: { type: "boolean", describe: "arguments are names of CRDs of the cluster that kubectl uses" },
    context: {
      type: "string",
      value: "CONTEXT",
      describe: "the context of the kubeconfig to use",
      otherwise: "the current one",
    },
    version: {
      type: "string",
      value: "VERSION",
      describe: "the version of the kinds, such as v1beta1",
      otherwise: "the one Kubernetes prefers",
    },
    output: {
      type: "string",
      short: "o",
      value: "FOLDER",
      describe: "write a file for each kind there",
      otherwise: "standard output",
      completion: "folders",
    },
  },
  examples: [
    { line: "windlass types certificate-crd.yaml > src/certificate.ts", what: "from a file" },
    {
      line: "windlass types --cluster certificates.cert-manager.io --output src/kinds",
      what: "from a cluster: src/kinds/certificate.ts",
    },
    {
      line: "curl -sL https://example.com/crds.yaml | windlass types - --output src/kinds",
      what: "from anywhere: a file for each kind",
    },
  ],
  endsAtOnce: true,
  async run({ options, arguments: given }, terminal) {
    if (given.length === 0)
      throw new UsageError("say from where: the file of a CRD, or --cluster and the name of one");
    const definitions = options.cluster
      ? await fromCluster(given, options.context, terminal)
      : (await Promise.all(given.map((file) => fromFile(file, terminal)))).flat();
    const modules = await Promise.all(definitions.map((one) => moduleFor(one, options.version)));
    if (options.output === undefined) {
      if (modules.length > 1)
        throw new UsageError(`there are ${modules.length} kinds: say with --output where their files go`);
      for (const { text } of modules) terminal.stdout.write(text);
      return;
    }
    const folder = outputPath(terminal.folder, "--output", options.output);
    for (const [file, text] of filesOf(modules)) {
      await writeWhole(join(folder, file), text);
      terminal.stdout.write(`${join(options.output, file)}\n`);
    }
  },
});

interface TypesModule {
  readonly group: string;
  readonly kind: string;
  readonly text: string;
}

/**
 * Modules by the names of their files: that of the kind, and of its group where several have such a
 * kind.
 */
function filesOf(modules: readonly TypesModule[]): ReadonlyMap<string, string> {
  const groups = Map.groupBy(modules, ({ kind }) => kind.toLowerCase());
  return new Map(
    modules.map(({ group, kind, text }) => {
      const name = kind.toLowerCase();
      return [groups.get(name)?.length === 1 ? `${name}.ts` : `${name}.${group}.ts`, text];
    }),
  );
}

/** A module with the types of a kind. */
async function moduleFor(definition: CrdSource, version: string | undefined): Promise<TypesModule> {
  const { generateTypes } = await import("@windlass/runtime");
  const { group, names, versions } = definition.spec;
  if (version !== undefined && versions.every((one) => one.name !== version)) {
    const known = versions.map((one) => one.name).join(", ");
    throw new CommandError(`${names.kind} has no version ${version}: there are ${known}`);
  }
  const text = generateTypes(definition, {
    importFrom: "@windlass/runtime",
    ...(version === undefined ? {} : { version }),
  });
  return { group, kind: names.kind, text };
}

async function fromFile(file: string, { folder, stdin }: Terminal): Promise<readonly CrdSource[]> {
  const text = file === "-" ? await readText(stdin) : await textOf(resolve(folder, file));
  const definitions = (await documentsIn(text, file)).flatMap(itemsOf).filter(isDefinition);
  if (definitions.length === 0)
    throw new CommandError(`${file}: there is no CustomResourceDefinition of apiextensions.k8s.io/v1 in it`);
  return definitions;
}

/** @throws Error of the system that names the file: of a folder it does not */
async function textOf(path: string): Promise<string> {
  return await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw Object.assign(error, { path });
  });
}

async function fromCluster(
  names: readonly string[],
  context: string | undefined,
  terminal: Terminal,
): Promise<readonly CrdSource[]> {
  const { connect, isNotFound } = await import("@windlass/client");
  const { CustomResourceDefinition } = await import("@windlass/runtime/kinds");
  await using client = await connect({
    env: terminal.env,
    ...(context === undefined ? {} : { context }),
  });
  const read = async (name: string): Promise<CrdSource> => {
    try {
      return { ...(await client.get(CustomResourceDefinition, { name })), kind: "CustomResourceDefinition" };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new CommandError(
        `the cluster has no CustomResourceDefinition ${name}: kubectl get crds lists them`,
      );
    }
  };
  return await withProgress(terminal, "Asking the cluster", () => Promise.all(names.map(read)));
}

/** @throws CommandError unless it is YAML */
async function documentsIn(text: string, file: string): Promise<readonly unknown[]> {
  const { loadAll, YAMLException } = await import("js-yaml");
  try {
    return loadAll(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new CommandError(`${file} is neither YAML nor JSON: ${error.message}`, { cause: error });
  }
}

/** What a document holds: itself, or the items of a list. */
function itemsOf(document: unknown): readonly unknown[] {
  const { kind, items } = (document ?? {}) as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items) ? items : [document];
}

function isDefinition(object: unknown): object is CrdSource {
  const { kind, apiVersion, spec } = (object ?? {}) as Partial<CrdSource> & { readonly apiVersion?: unknown };
  if (kind !== "CustomResourceDefinition" || apiVersion !== "apiextensions.k8s.io/v1") return false;
  if (typeof spec?.names?.kind !== "string" || !Array.isArray(spec.versions))
    throw new CommandError("a CustomResourceDefinition has no spec.names.kind, or no spec.versions");
  return true;
}
