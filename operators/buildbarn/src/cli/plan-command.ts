import { type Command, CommandError, command, type Terminal, UsageError } from "@windlass/cli";
import { type AnyKind, asManifest, type KubernetesObject } from "@windlass/client";
import { ConfigMap } from "@windlass/runtime/kinds";
import { kinds } from "../kinds.ts";
import { type BuildbarnSet, isComponent } from "../set/index.ts";
import { type PlanStep, planOf } from "./plan.ts";
import { files, type Resources, readResources, setsOf } from "./resources.ts";

/** Says what the operator would do, and in which order. */
export const planCommand: Command = command({
  name: "plan",
  summary: "print what the operator would do to get to these resources, and in which order",
  description: `
Compares resources with those of the cluster, or with those of other files (--from), and prints the steps
of the operator: which pods it replaces and for which file, the phases by which shards change, what would
empty the cache. Reads the cluster, and changes nothing.`,
  arguments: files,
  options: {
    from: {
      type: "string",
      value: "FILE",
      describe: "the resources as they are now",
      otherwise: "those of the cluster",
      completion: "files",
    },
    context: {
      type: "string",
      value: "CONTEXT",
      describe: "of the kubeconfig",
      otherwise: "the current one",
    },
    json: { type: "boolean", describe: "print each step as JSON, a line each" },
  },
  examples: [
    { line: "windlass-buildbarn plan cluster.yaml", what: "before it is applied" },
    { line: "windlass-buildbarn plan --from old.yaml new.yaml", what: "without a cluster" },
  ],
  async run({ options, arguments: paths }, terminal) {
    if (options.from !== undefined && options.context !== undefined)
      throw new UsageError("--from needs no cluster: leave --context out");
    const present =
      options.from === undefined
        ? await inCluster(terminal, await readResources(paths, terminal), options.context)
        : await readResources([options.from], terminal);
    const wanted = await readResources(paths, terminal, present.manifests);
    if (wanted.faults.length > 0) throw new CommandError(wanted.faults.join("\n"));
    const steps = wanted.sets.flatMap((set) =>
      planOf(
        { set: sameSet(present.sets, set), configMaps: present.configMaps },
        { set, configMaps: [...wanted.configMaps, ...present.configMaps] },
      ),
    );
    const show =
      options.json === true
        ? (one: PlanStep) => `${JSON.stringify(one)}\n`
        : ({ what, does, detail }: PlanStep) => `${does.padEnd(7)} ${what}: ${detail}\n`;
    for (const one of steps) terminal.stdout.write(show(one));
    if (steps.length === 0 && options.json !== true) terminal.stdout.write("Nothing would change.\n");
    const refused = steps.filter(({ does }) => does === "refuse");
    if (refused.length > 0) throw new CommandError("not all of it can be rolled out");
  },
});

function sameSet(sets: readonly BuildbarnSet[], { namespace, name }: BuildbarnSet): BuildbarnSet | undefined {
  return sets.find((one) => one.namespace === namespace && one.name === name);
}

/** What the cluster has in the namespaces of the resources that are wanted. */
async function inCluster(
  { env }: Terminal,
  { manifests: wanted }: Resources,
  context: string | undefined,
): Promise<Pick<Resources, "sets" | "configMaps" | "manifests">> {
  const { connect } = await import("@windlass/client");
  await using client = await connect({ env, ...(context !== undefined && { context }) });
  const namespaces = new Set(wanted.map(({ metadata }) => metadata.namespace ?? "default"));
  const found: KubernetesObject[] = [];
  const configMaps: Resources["configMaps"][number][] = [];
  for (const namespace of namespaces) {
    for (const kind of kinds) found.push(...(await client.list<AnyKind>(kind, { namespace })).items);
    configMaps.push(...(await client.list(ConfigMap, { namespace })).items);
  }
  return {
    sets: setsOf(found.filter(isComponent)),
    configMaps,
    manifests: found.map((object) => {
      const { apiVersion, kind, metadata, spec } = asManifest(object, "an object of the cluster");
      const { name, namespace } = metadata;
      const manifest = { apiVersion, kind, metadata: { name, namespace }, spec };
      return manifest;
    }),
  };
}
