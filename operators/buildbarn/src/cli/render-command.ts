import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Command, CommandError, command } from "@windlass/cli";
import { configMapName, labelsOf } from "../names.ts";
import { type Configured, configurationsOf, nameOf } from "./configurations.ts";
import { files, readResources } from "./resources.ts";

const apps = {
  BuildbarnStorage: "storage",
  BuildbarnScheduler: "scheduler",
  BuildbarnFrontend: "frontend",
  BuildbarnBrowser: "browser",
  BuildbarnWorker: "worker",
} as const;

/** Writes the configuration that the operator would give each component. */
export const renderCommand: Command = command({
  name: "render",
  summary: "write the configuration that the operator would give each component",
  description: `
Prints the ConfigMaps that the operator would make, or with --output writes their files, in a folder for
each component: what Buildbarn's programs take as they are. Storage is as if its shards had always been so
many.`,
  arguments: files,
  options: {
    output: {
      type: "string",
      short: "o",
      value: "FOLDER",
      describe: "write the files into this folder",
      otherwise: "ConfigMaps are printed",
      completion: "folders",
    },
  },
  examples: [
    { line: "windlass-buildbarn render cluster.yaml", what: "to read it" },
    {
      line: "windlass-buildbarn render cluster.yaml -o config",
      what: "to run bb_storage config/bb-storage/storage.jsonnet",
    },
  ],
  async run({ options, arguments: paths }, terminal) {
    const { sets, configMaps, faults: refused } = await readResources(paths, terminal);
    const components = sets.flatMap((set) => configurationsOf(set, configMaps));
    const faults = [
      ...refused,
      ...components.flatMap(({ component, faults: own }) => own.map((one) => `${nameOf(component)}: ${one}`)),
    ];
    if (faults.length > 0) throw new CommandError(faults.join("\n"));
    if (options.output !== undefined) {
      const folder = resolve(terminal.folder, options.output);
      for (const one of components) await writeFiles(one, folder);
      return;
    }
    const { dump } = await import("js-yaml");
    terminal.stdout.write(components.map((one) => dump(configMapOf(one), { lineWidth: -1 })).join("---\n"));
  },
});

async function writeFiles({ component, configuration }: Configured, folder: string): Promise<void> {
  const own = join(folder, component.metadata.name);
  await mkdir(own, { recursive: true });
  for (const [name, content] of Object.entries(configuration?.files ?? {}))
    await writeFile(join(own, name), content);
}

function configMapOf({ component, configuration, hash = "" }: Configured) {
  const { kind, metadata, spec } = component;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: configMapName(metadata.name, hash),
      namespace: metadata.namespace,
      labels: labelsOf(apps[kind as keyof typeof apps], metadata.name, spec.cluster),
    },
    immutable: true,
    data: configuration?.files,
  };
}
