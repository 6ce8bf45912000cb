import { completion } from "./commands/completion.ts";
import { create } from "./commands/create.ts";
import { dev } from "./commands/dev.ts";
import { types } from "./commands/types.ts";
import type { Program } from "./run.ts";
import { version } from "./version.ts";

/** The windlass command. */
export const windlass: Program = {
  name: "windlass",
  version,
  description: `
Makes, runs and ships Kubernetes operators written in TypeScript. Begin with: windlass create`,
  commands: [create, dev, types, completion],
};
