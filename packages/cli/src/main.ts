import { exitCodes } from "./errors.ts";
import { processTerminal } from "./process-terminal.ts";
import { windlass } from "./program.ts";
import { runProgram } from "./run.ts";

const code = await runProgram(windlass, process.argv.slice(2), processTerminal());
// What was interrupted may still be under way.
if (code === exitCodes.interrupted) process.exit(code);
process.exitCode = code;
