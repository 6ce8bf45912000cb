import { describe } from "vitest";
import { labWorld } from "../../operators/buildkit/testing/lab-world.ts";
import { poolSuite } from "../../operators/buildkit/testing/suite.ts";

describe.each(["privileged", "rootless"] as const)("%s workers", (profile) => {
  poolSuite(() => labWorld(profile), 60_000);
});
