/**
 * Writes `packages/kinds/src/generated` from an API server's OpenAPI documents, and from the Go
 * types in `go-types.json`, which say what may be null.
 *
 * node scripts/generate-kinds.ts [--kubeconfig FILE] [--output DIR] asks the server, through
 * kubectl node scripts/generate-kinds.ts --input DIR [--output DIR] reads *.json documents from a
 * folder
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { goTypes } from "@windlass/kinds/go-types";
import { generateBuiltinKinds } from "../src/resource/typegen/builtin.ts";
import { generateBuiltinTypes } from "../src/resource/typegen/builtin-types.ts";
import type { OpenApiDocument } from "../src/resource/typegen/openapi-schema.ts";

const { values: options } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    input: { type: "string" },
    output: { type: "string", default: join(import.meta.dirname, "../../kinds/src/generated") },
  },
});

const documents = options.input === undefined ? fromServer(options.kubeconfig) : fromFolder(options.input);
const kinds = generateBuiltinKinds(documents, goTypes);
if (kinds.length === 0)
  throw new Error("no kind of Kubernetes' own in these documents: is this an API server's /openapi/v3?");
mkdirSync(options.output, { recursive: true });
for (const file of readdirSync(options.output)) {
  if (file.endsWith(".ts")) rmSync(join(options.output, file));
}
const modules = [...kinds, ...generateBuiltinTypes(documents, goTypes)];
for (const module of modules) writeFileSync(join(options.output, `${module.name}.ts`), module.text);
console.log(`${modules.length} modules written to ${options.output}`);

function fromFolder(folder: string): OpenApiDocument[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as OpenApiDocument);
}

function fromServer(kubeconfig: string | undefined): OpenApiDocument[] {
  const get = (path: string): unknown => {
    const flags = kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig];
    const text = execFileSync("kubectl", [...flags, "get", "--raw", path], {
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
    });
    return JSON.parse(text);
  };
  const index = get("/openapi/v3") as { paths: Record<string, { serverRelativeURL: string }> };
  return Object.entries(index.paths)
    .filter(([path]) => /^apis?\/(.+\/)?v\d+$/.test(path))
    .map(([, { serverRelativeURL }]) => get(serverRelativeURL) as OpenApiDocument);
}
