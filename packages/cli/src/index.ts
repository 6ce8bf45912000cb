/**
 * The parts of the `windlass` command that other programs are made of.
 *
 * @module
 */

export {
  type Arguments,
  type Command,
  type Completion,
  command,
  type Example,
  type FlagOption,
  type Given,
  type Option,
  type Options,
  type Program,
  type ValueOption,
  type Values,
} from "./command.ts";
export { create } from "./commands/create.ts";
export { CommandError, exitCodes, UsageError } from "./errors.ts";
export {
  type AlertDeclaration,
  type ComponentDeclaration,
  defineOperator,
  type OperatorDeclaration,
  type PanelDeclaration,
  type PodMonitorDeclaration,
  type PortDeclaration,
  type SettingDeclaration,
  type TwinDeclaration,
} from "./generate/operator.ts";
export { processTerminal } from "./process-terminal.ts";
export { runCommand, runProgram } from "./run.ts";
export type { Terminal, TextOutput } from "./terminal.ts";
