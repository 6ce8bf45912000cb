import { processTerminal, runProgram } from "@windlass/cli";
import { windlassBuildbarn } from "./program.ts";

process.exitCode = await runProgram(windlassBuildbarn, process.argv.slice(2), processTerminal());
