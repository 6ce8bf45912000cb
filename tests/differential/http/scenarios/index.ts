import type { Sequence } from "../sequence.ts";
import { applies } from "./applies.ts";
import { creates } from "./creates.ts";
import { deletes } from "./deletes.ts";
import { lists } from "./lists.ts";
import { numberScenarios } from "./numbers.ts";
import { patches } from "./patches.ts";
import { paths } from "./paths.ts";
import { scales } from "./scales.ts";
import { sizes } from "./sizes.ts";
import { updates } from "./updates.ts";

/** What clients do, and the mistakes they make, one after the other. */
export const scenarios: readonly Sequence[] = [
  ...paths,
  ...creates,
  ...updates,
  ...patches,
  ...numberScenarios,
  ...sizes,
  ...scales,
  ...applies,
  ...lists,
  ...deletes,
];
