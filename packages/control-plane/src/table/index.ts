export { humanDuration } from "./duration.ts";
export { evaluateJsonPath, type JsonPath, JsonPathError, parseJsonPath } from "./json-path.ts";
export { type IncludeObject, partialMetadata, scaleTable, type TableOptions, toTable } from "./table.ts";
