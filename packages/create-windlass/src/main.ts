import { create, processTerminal, runCommand } from "@windlass/cli";

process.exitCode = await runCommand(
  "npm create windlass --",
  create,
  process.argv.slice(2),
  processTerminal(),
);
