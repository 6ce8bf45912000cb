/**
 * `npm test`: lint, types and every test that needs nothing but Node and npm. Ends with `N passed,
 * N failed`, and what left itself out.
 */
import { resultLine, runSteps, runVitest } from "./steps.ts";

const steps = await runSteps([
  ["format and lint", "biome", ["check", "."]],
  ["promises and types of awaits", "oxlint", ["--type-aware", "--deny-warnings"]],
  ["types", "tsc", ["-p", "tsconfig.json"]],
]);
const tests = await runVitest([]);
const passed = steps.passed + tests.passed;
const failed = steps.failed + tests.failed;
process.stdout.write(resultLine({ ...tests, passed, failed }));
process.exit(failed > 0 || tests.passed === 0 ? 1 : 0);
