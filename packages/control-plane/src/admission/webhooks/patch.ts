import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import { PatchedDocument } from "../../merge/index.ts";
import { ParseError, parseJsonInSteps } from "../../schema/parse-json.ts";
import { internalError, StatusError } from "../../status.ts";
import { nextTurn, type Steps, TurnBudget } from "../../steps.ts";

/** The operations of a webhook's patch. @throws ParseError when it is no list of operations */
export function* readPatch(text: string): Steps<Json[]> {
  const { value } = yield* parseJsonInSteps(text);
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  throw new ParseError(
    `json: cannot unmarshal ${isObject(value) ? "object" : typeof value} into Go value of type jsonpatch.Patch`,
  );
}

/** Unlike those of requests, patches of webhooks may have any number of operations. */
const operationsPerTurn = 10_000;

/**
 * Applies a webhook's patch.
 *
 * @throws StatusError 500 that names the operation which does not apply
 */
export function* patched(object: JsonObject, operations: readonly Json[]): Steps<JsonObject> {
  const document = new PatchedDocument(object);
  const budget = new TurnBudget(operationsPerTurn);
  for (const operation of operations) {
    if (budget.spend(1) || document.takeTurn()) yield nextTurn;
    const known = isObject(operation) ? operation : {};
    try {
      document.apply(known);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw internalError(faultOf(document.value, known, error));
    }
  }
  if (isObject(document.value)) return document.value;
  throw internalError("couldn't get version/kind; json parse error: the patch left no object");
}

/**
 * Which part of an operation found nothing to work on, in the words of the library that the real
 * server uses.
 */
function faultOf(document: Json, operation: JsonObject, error: StatusError): string {
  const path = textOf(operation.path);
  const from = textOf(operation.from);
  const key = keysOf(path).at(-1) ?? "";
  const parent = at(document, keysOf(path).slice(0, -1));
  const isContainer = typeof parent === "object" && parent !== null;
  switch (operation.op) {
    case "add":
      return isContainer
        ? `error in add for path: '${path}': ${indexFault(key)}`
        : `add operation does not apply: doc is missing path: "${path}": missing value`;
    case "remove":
      if (!isContainer)
        return `remove operation does not apply: doc is missing path: "${path}": missing value`;
      return `error in remove for path: '${path}': ${
        Array.isArray(parent) ? indexFault(key) : `Unable to remove nonexistent key: ${key}: missing value`
      }`;
    case "replace":
      return isContainer
        ? `replace operation does not apply: doc is missing key: ${path}: missing value`
        : `replace operation does not apply: doc is missing path: ${path}: missing value`;
    case "test":
      return `testing value ${path} failed: test failed`;
    case "move":
      if (at(document, keysOf(from)) === undefined && isObject(at(document, keysOf(from).slice(0, -1)))) {
        const gone = keysOf(from).at(-1) ?? "";
        return `error in move for path: '${gone}': Unable to remove nonexistent key: ${gone}: missing value`;
      }
      return sourceFault("move", document, from, path);
    case "copy":
      return sourceFault("copy", document, from, path);
    default:
      return operation.op === undefined ? error.message : `Unexpected kind: ${textOf(operation.op)}`;
  }
}

function sourceFault(op: string, document: Json, from: string, path: string): string {
  return at(document, keysOf(from)) === undefined
    ? `${op} operation does not apply: doc is missing from path: ${from}: missing value`
    : `${op} operation does not apply: doc is missing destination path: ${path}: missing value`;
}

function keysOf(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(document: Json, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const key of keys) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function indexFault(key: string): string {
  return /^-?\d+$/.test(key)
    ? `Unable to access invalid index: ${key}: invalid index referenced`
    : `value was not a proper array index: '${key}': strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`;
}
