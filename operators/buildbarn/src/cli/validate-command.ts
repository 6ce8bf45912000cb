import { type Command, CommandError, command } from "@windlass/cli";
import { configurationsOf, nameOf } from "./configurations.ts";
import { files, readResources } from "./resources.ts";

/** Finds what a cluster, or a program of Buildbarn, would refuse. */
export const validateCommand: Command = command({
  name: "validate",
  summary: "find what a cluster, or Buildbarn, would refuse",
  description: `
Has an API server of its own look at the resources, and evaluates the configuration of every component
as its program would. Says what is wrong with file, line and column, or with the field. Ends with 1 if
anything is. A BuildbarnCluster counts as the components that it stands for; ConfigMaps in the files
are those that configMapName may name.`,
  arguments: files,
  options: { json: { type: "boolean", describe: "print JSON" } },
  examples: [
    { line: "windlass-buildbarn validate cluster.yaml", what: "before it is applied" },
    { line: "kustomize build . | windlass-buildbarn validate -", what: "in CI" },
  ],
  async run({ options, arguments: paths }, terminal) {
    const { sets, configMaps, faults: refused } = await readResources(paths, terminal);
    const components = sets.flatMap((set) => configurationsOf(set, configMaps));
    const faults = [
      ...refused,
      ...components.flatMap(({ component, faults: own }) => own.map((one) => `${nameOf(component)}: ${one}`)),
    ];
    const warnings = components.flatMap(({ component, unknown }) =>
      unknown === undefined ? [] : [`${nameOf(component)}: cannot be evaluated here, only tried: ${unknown}`],
    );
    if (options.json === true) terminal.stdout.write(`${JSON.stringify({ faults, warnings })}\n`);
    else {
      for (const { component, faults: own } of components)
        if (own.length === 0) terminal.stdout.write(`${nameOf(component)}: valid\n`);
      for (const line of [...warnings, ...faults]) terminal.stderr.write(`${line}\n`);
    }
    if (faults.length > 0)
      throw new CommandError(faults.length === 1 ? "1 fault" : `${faults.length} faults`);
  },
});
