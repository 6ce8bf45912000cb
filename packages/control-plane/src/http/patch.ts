import { isObject, type JsonObject } from "../json.ts";
import type { Apply } from "../registry/apply.ts";
import type { Target } from "../registry/identity.ts";
import { type Change, type Patch, patchObject } from "../registry/patch.ts";
import type { Resource } from "../registry/resource.ts";
import { outOfRange, type Parsed, ParseError, parseJsonInSteps } from "../schema/parse-json.ts";
import { badRequest, invalid, StatusError } from "../status.ts";
import { finish } from "../steps.ts";
import { checkSize, mediaType, textOfBytes, unsupportedMediaType } from "./body.ts";
import { isTrue } from "./list-options.ts";
import { present, type ReadDependencies } from "./read.ts";
import { type ApiRequest, type ApiResponse, header } from "./request.ts";
import type { WriteRequest } from "./write.ts";

/** Answers a PATCH: the registry does what the body asks for. */
export async function patch(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { resource } = target;
  const { object, created } = await patchObject(
    deps.registry,
    target,
    write,
    await readPatch(resource, write),
  );
  return present(deps, resource, object, write.as, write.query, created ? 201 : 200);
}

const patchTypes: ReadonlyMap<string, Patch["type"]> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);

/** The type of a request's patch. @throws StatusError 415 */
export function patchType(resource: Pick<Resource, "info">, request: ApiRequest): Patch["type"] {
  const type = patchTypes.get(mediaType(header(request, "content-type")));
  if (resource.info.origin === "builtin") {
    if (type) return type;
    throw new StatusError({
      code: 415,
      reason: "UnsupportedMediaType",
      message: "415: Unsupported Media Type",
      details: {},
    });
  }
  if (type && type !== "strategic") return type;
  throw unsupportedMediaType([...patchTypes].flatMap(([name, of]) => (of === "strategic" ? [] : [name])));
}

/** The patch of a request. @throws StatusError 400, 413, 415, 422 */
export async function readPatch(resource: Pick<Resource, "info">, write: WriteRequest): Promise<Patch> {
  const type = patchType(resource, write.request);
  if (type === "apply") return await readApply(write);
  refuseForce(write);
  return await readChange(type, write.request);
}

async function readApply(write: WriteRequest): Promise<Apply> {
  const manager = requireManager(write);
  const { config, repeated } = await readConfiguration(write.request);
  const force = write.query.has("force") && isTrue(write.query.get("force") ?? "");
  return { type: "apply", config, repeated, manager, force };
}

function refuseForce({ query }: WriteRequest): void {
  if (!query.has("force")) return;
  throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    {
      reason: "FieldValueForbidden",
      message: "Forbidden: may not be specified for non-apply patch",
      field: "force",
    },
  ]);
}

/** @throws StatusError 400 */
async function readChange(type: Change["type"], { body = new Uint8Array() }: ApiRequest): Promise<Change> {
  checkSize(body);
  const prefix = type === "strategic" ? "" : "error decoding patch: ";
  let document: unknown;
  try {
    const parsed = await finish(parseJsonInSteps(textOfBytes(body), { outOfRange: "noted" }));
    const odd = parsed.numbers?.outOfRange;
    if (odd !== undefined) throw new ParseError(outOfRange(odd, type === "json" ? inOperation : undefined));
    document = parsed.value;
  } catch (error) {
    if (error instanceof ParseError) throw badRequest(`${prefix}${error.message}`);
    throw error;
  }
  const mismatch = (value: unknown, wanted: string) =>
    badRequest(`${prefix}json: cannot unmarshal ${goKindOf(value)} into Go value of type ${wanted}`);
  if (type === "json") {
    const operations = document ?? [];
    if (!Array.isArray(operations)) throw mismatch(operations, "[]handlers.jsonPatchOp");
    const odd: unknown = operations.find((operation) => operation !== null && !isObject(operation));
    if (odd !== undefined) throw mismatch(odd, "handlers.jsonPatchOp");
    return { type, operations };
  }
  if (document === null && type === "merge") throw badRequest("Invalid JSON Patch");
  const change = document ?? {};
  if (!isObject(change)) throw mismatch(change, "map[string]interface {}");
  return { type, change };
}

/** Where Go finds what a JSON patch adds. */
const inOperation = "Go struct field jsonPatchOp.value";

function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "bigint") return "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** The field manager of an apply. @throws StatusError 422 if there is none */
function requireManager({ query }: WriteRequest): string {
  const manager = query.get("fieldManager") ?? "";
  if (manager !== "") return manager;
  throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    {
      reason: "FieldValueRequired",
      message: "Required value: is required for apply patch",
      field: "fieldManager",
    },
  ]);
}

/** An applied configuration, and its repeated fields. */
interface Configuration {
  readonly config: JsonObject;
  readonly repeated: readonly string[];
}

/** Reads an applied configuration: YAML, or JSON, which is YAML too. @throws StatusError 400 */
async function readConfiguration({ body = new Uint8Array() }: ApiRequest): Promise<Configuration> {
  checkSize(body);
  const text = textOfBytes(body);
  const { parseYamlInSteps } = await import("../schema/parse-yaml.ts");
  const readYaml = () => finish(parseYamlInSteps(text));
  let config: unknown;
  let repeated: readonly string[];
  try {
    ({ value: config, duplicates: repeated } = await readConfigurationText(text, readYaml));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
  if (config === null) return { config: {}, repeated };
  if (!isObject(config)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${goKindOf(config)} into Go value of type map[string]interface {}`,
    );
  }
  return { config, repeated };
}

async function readConfigurationText(
  text: string,
  readYaml: () => Parsed | Promise<Parsed>,
): Promise<Parsed> {
  if (text.trim() === "") return { value: null, duplicates: [] };
  if (text.trimStart().startsWith("{")) {
    try {
      const parsed = await finish(parseJsonInSteps(text, { findDuplicates: true }));
      // The YAML reader reports repeated fields with line numbers, and reads numbers differently.
      if (parsed.duplicates.length === 0 && !parsed.numbers) return parsed;
    } catch (error) {
      // Flow style looks like JSON, and is not.
      if (!(error instanceof ParseError)) throw error;
    }
  }
  return await readYaml();
}
