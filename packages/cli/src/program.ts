import type { Program } from "./command.ts";
import { assets } from "./commands/assets.ts";
import { completionOf } from "./commands/completion.ts";
import { create } from "./commands/create.ts";
import { dev } from "./commands/dev.ts";
import { diff } from "./commands/diff.ts";
import { doctor } from "./commands/doctor.ts";
import { generate } from "./commands/generate.ts";
import { image } from "./commands/image.ts";
import { top } from "./commands/top.ts";
import { types } from "./commands/types.ts";
import { version } from "./version.ts";

/** The windlass command. */
export const windlass: Program = {
  name: "windlass",
  version,
  description: `
Makes, runs and ships Kubernetes operators written in TypeScript. Begin with: windlass create
In a project that has @windlass/cli: npx windlass COMMAND`,
  commands: [create, dev, generate, image, diff, doctor, top, types, assets, completionOf(() => windlass)],
};
