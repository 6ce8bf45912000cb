import { type Command, CommandError, command } from "@windlass/cli";
import { rbacFor } from "@windlass/runtime";
import { controllers } from "../operator.ts";

const name = "buildbarn-operator";

/** Writes the rights of an operator that looks after some namespaces alone. */
export const rolesCommand: Command = command({
  name: "roles",
  summary: "write the rights of an operator that looks after some namespaces alone",
  description: `
Prints a Role for each of the namespaces, and a ClusterRole that has nothing but what has no namespace:
StorageClasses and CustomResourceDefinitions, which are read. Applied over an installation, it takes the
rights on all other namespaces away. Set WATCH_NAMESPACES of the operator to the same namespaces.`,
  arguments: { usage: "NAMESPACE …" },
  options: {
    installed: {
      type: "string",
      value: "NAMESPACE",
      describe: "where the operator is installed",
      otherwise: "buildbarn-system",
    },
  },
  examples: [
    {
      line: "windlass-buildbarn roles builds | kubectl apply --server-side --force-conflicts -f -",
      what: "over an installation",
    },
  ],
  async run({ options, arguments: namespaces }, terminal) {
    if (namespaces.length === 0) throw new CommandError("name the namespaces that the operator looks after");
    const serviceAccount = { name, namespace: options.installed ?? "buildbarn-system" };
    const { dump } = await import("js-yaml");
    const objects = rbacFor(controllers, { name, namespaces, serviceAccount });
    terminal.stdout.write(objects.map((one) => dump(one, { lineWidth: -1, noRefs: true })).join("---\n"));
  },
});
