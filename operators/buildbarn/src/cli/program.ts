import type { Program } from "@windlass/cli";
import { planCommand } from "./plan-command.ts";
import { probeCommand } from "./probe-command.ts";
import { renderCommand } from "./render-command.ts";
import { rolesCommand } from "./roles-command.ts";
import { validateCommand } from "./validate-command.ts";

/** The windlass-buildbarn command. */
export const windlassBuildbarn: Program = {
  name: "windlass-buildbarn",
  version: "0.1.0",
  description: `
Says what the Buildbarn operator would make of resources, with the operator's own code and without a
cluster. Begin with: windlass-buildbarn validate FILE`,
  commands: [validateCommand, renderCommand, planCommand, probeCommand, rolesCommand],
};
