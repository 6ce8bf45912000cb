import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandError } from "../errors.ts";
import type { OperatorDeclaration } from "./operator.ts";
import { type Operator, resolveOperator } from "./resolve.ts";

/** The file that declares an operator, unless another is named. */
export const configFile = "windlass.config.ts";

/**
 * The operator that a file declares.
 *
 * @throws CommandError when there is no such file, it cannot be loaded, or it declares none
 */
export async function loadOperator(file: string): Promise<Operator> {
  if (!existsSync(file))
    throw new CommandError(
      `there is no ${file}: run this in the folder of an operator, or say with --config where its declaration is`,
    );
  const { operator } = await importConfig(file);
  if (typeof operator !== "object" || operator === null || typeof operator.name !== "string")
    throw new CommandError(`${file} declares no operator: export const operator = defineOperator({ … })`);
  return resolveOperator(operator, await versionBeside(file));
}

async function importConfig(file: string): Promise<{ readonly operator?: OperatorDeclaration }> {
  try {
    return (await import(pathToFileURL(file).href)) as { readonly operator?: OperatorDeclaration };
  } catch (error) {
    // What the user can put right, as `defineOperator` says it, needs no stack.
    if (error instanceof CommandError || !(error instanceof Error)) throw error;
    throw new CommandError(`${ownFrames(error)}\n${file} could not be loaded`, { cause: error });
  }
}

/**
 * What an error says, and where in the user's code: below the first frame of Node's own come those
 * of the loader.
 */
function ownFrames({ stack = "", message }: Error): string {
  const at = stack.search(/^ +at .*\bnode:internal\//m);
  return at < 0 ? stack || message : stack.slice(0, at).trimEnd();
}

/** The version of the package that a file belongs to. */
async function versionBeside(file: string): Promise<string> {
  const manifest = join(dirname(file), "package.json");
  const text = await readFile(manifest, "utf8").catch(() => "{}");
  const { version } = JSON.parse(text) as { readonly version?: string };
  if (version === undefined)
    throw new CommandError(`${manifest} has no version: the chart and the image need one, such as 0.1.0`);
  return version;
}
