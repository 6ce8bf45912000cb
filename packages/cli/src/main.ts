import { processTerminal } from "./process-terminal.ts";
import { windlass } from "./program.ts";
import { runProgram } from "./run.ts";

process.exitCode = await runProgram(windlass, process.argv.slice(2), processTerminal());
