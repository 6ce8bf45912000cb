import { JsonnetError, type Location } from "./location.ts";
import type { Argument, Thunk } from "./values.ts";

/**
 * Puts the arguments of a call where their parameters' names are.
 *
 * @throws JsonnetError for an argument too many, of no parameter, or given twice.
 */
export function bindArguments(
  parameters: readonly string[],
  args: readonly Argument[],
  at: Location,
  names: Map<string, Thunk>,
): void {
  for (const [index, { name, value }] of args.entries()) {
    const parameter = name ?? parameters[index];
    if (parameter === undefined)
      throw new JsonnetError(
        at,
        `${args.length} arguments are given, and there are ${parameters.length} parameters`,
      );
    if (!parameters.includes(parameter)) throw new JsonnetError(at, `there is no parameter ${parameter}`);
    if (names.has(parameter)) throw new JsonnetError(at, `the argument ${parameter} is given twice`);
    names.set(parameter, value);
  }
}
