import { JmespathError, placeOf } from "./fault.ts";
import { parse } from "./parser.ts";

/**
 * What is wrong with a JMESPath expression, and where, or undefined where the programs can answer
 * it.
 */
export function expressionFault(text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof JmespathError)) throw error;
    const { line, column } = placeOf(text, error.offset);
    return `line ${line}, column ${column}: ${error.message}`;
  }
}
