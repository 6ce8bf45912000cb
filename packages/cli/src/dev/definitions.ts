import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import type { CrdManifest } from "@windlass/runtime";
import { CommandError } from "../errors.ts";

/** What runs in a process of its own: modules are loaded once in a process, and these change. */
const program = `
  try {
    const exported = Object.values(await import(process.argv[1]));
    const kinds = exported.filter((one) => typeof one?.crd === "function");
    process.send(kinds.map((kind) => kind.crd({ conversion: "None" })));
    process.disconnect();
  } catch (error) {
    if (error?.code !== "RESOURCE_DEFINITION") throw error;
    // It names the field and the way out: where in the runtime it was thrown is of no use.
    console.error(error.message);
    process.exit(1);
  }`;

/**
 * The CustomResourceDefinitions of the kinds that a module exports, as the module is now.
 *
 * @throws CommandError when the module cannot be loaded, with what it said
 */
export async function readDefinitions(
  module: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly CrdManifest[]> {
  const url = pathToFileURL(module).href;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program, url], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env,
    signal,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const { promise, resolve, reject } = Promise.withResolvers<readonly CrdManifest[]>();
  child.once("message", (message) => resolve((message as readonly CrdManifest[]).map(withoutConversion)));
  child.once("error", reject);
  child.once("close", () => reject(new CommandError(`${ownPart(said)}\n${module} could not be loaded`)));
  return await promise;
}

/**
 * Where versions are converted is left to the converter: to the operator, once it runs, or to what
 * is installed.
 */
function withoutConversion(definition: CrdManifest): CrdManifest {
  const { conversion: _conversion, ...spec } = definition.spec;
  return { ...definition, spec };
}

/** What a program said when it failed, without what it says of Node's own insides. */
export function ownPart(said: string): string {
  return (
    said
      .replace(/^node:internal[^\n]*\n(?: .*\n)*\n?/m, "")
      .replaceAll(/ \{\n {2}code: '[A-Z_]+'\n\}/g, "")
      // This program's own.
      .replaceAll(/^ +at .*\[eval\d*\]:\d+:\d+\)?\n/gm, "")
      // The last frame is followed by what else the error has.
      .replaceAll(/^ +at .*\bnode:internal\/.*?( \{)?\n/gm, (_frame, brace?: string) => (brace ? "{\n" : ""))
      .replace(/^Node\.js v[\d.]+$/m, "")
      .trim()
  );
}
