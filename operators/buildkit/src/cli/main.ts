import { processTerminal, runProgram } from "@windlass/cli";
import { windlassBuildkit } from "./program.ts";

// A terminal that is closed ends a build as Ctrl-C does.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"));
process.exitCode = await runProgram(windlassBuildkit, process.argv.slice(2), processTerminal());
