import { describe } from "vitest";
import { labEnvironment } from "../../operators/buildkit/testing/lab-environment.ts";
import { poolSuite } from "../../operators/buildkit/testing/suite.ts";

describe.each(["privileged", "rootless"] as const)("%s workers", (profile) => {
  poolSuite(() => labEnvironment(profile), 60_000);
});
