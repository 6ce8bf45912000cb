import type { Cells } from "../builtin/declaration.ts";
import type { JsonObject } from "../json.ts";
import type { KindInfo } from "../kinds/index.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";
import { type TableShape, tableShape } from "./columns.ts";
import { scaleCells } from "./scale.ts";

/** How much of each object goes with its row. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface TableOptions {
  /** The moment ages are counted to, in milliseconds since the epoch. */
  readonly now: number;
  /** @default "Metadata" */
  readonly includeObject?: IncludeObject;
  /** The list's metadata; of a single object, its resource version. */
  readonly listMetadata?: JsonObject;
  /** Of `meta.k8s.io`. @default "v1" */
  readonly version?: string;
  /**
   * Whether the header is sent. A watch sends it with its first event only.
   *
   * @default "all"
   */
  readonly columns?: "all" | "none";
}

/** How many rows are made between two turns of the event loop, if their cells are easy to find. */
const rowsPerTurn = 2_000;
const visitedPerRow = 20;

/** What `kubectl get` asks for: objects as rows of cells, under the columns of their kind. */
export function* toTable(
  kind: KindInfo,
  objects: readonly JsonObject[],
  options: TableOptions,
): Steps<JsonObject> {
  const shape = tableShape(kind);
  const budget = new TurnBudget(rowsPerTurn);
  const rows: JsonObject[] = [];
  for (const object of objects) {
    rows.push(rowOf(shape, object, options));
    if (budget.spend(1 + (shape.visited?.() ?? 0) / visitedPerRow)) yield nextTurn;
  }
  return makeTable(shape, rows, options);
}

/**
 * The table of a `scale` subresource, whose kind has no path of its own. Custom kinds name their
 * columns' types otherwise.
 */
export function scaleTable(
  scale: JsonObject,
  origin: "builtin" | "custom",
  options: TableOptions,
): JsonObject {
  const [format, ageType] = origin === "custom" ? ["name", "date"] : ["", "string"];
  const columns = [
    { name: "Name", type: "string", format, description: "", priority: 0 },
    { name: "Desired", type: "integer", format: "", description: "", priority: 0 },
    { name: "Available", type: "integer", format: "", description: "", priority: 0 },
    { name: "Age", type: ageType, format: "", description: "", priority: 0 },
  ];
  // The columns of custom kinds are paths, which find nothing where zero is left out.
  const cells: Cells = (object, now) => {
    const [name = "", desired = 0, ...rest] = scaleCells(object, now);
    return [name, origin === "custom" && desired === 0 ? null : desired, ...rest];
  };
  const shape: TableShape = { columns, cells, own: true };
  return makeTable(shape, [rowOf(shape, scale, options)], options);
}

function rowOf(
  shape: TableShape,
  object: JsonObject,
  { now, includeObject = "Metadata", version = "v1" }: TableOptions,
): JsonObject {
  const conditions = shape.rowConditions?.(object) ?? [];
  return {
    cells: shape.cells(object, now),
    ...(conditions.length === 0 ? {} : { conditions }),
    object: included(object, includeObject, `meta.k8s.io/${version}`),
  };
}

function makeTable(
  shape: TableShape,
  rows: JsonObject[],
  { listMetadata = {}, columns = "all", version = "v1" }: TableOptions,
): JsonObject {
  const { continue: token, ...metadata } = listMetadata;
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: token ? listMetadata : metadata,
    columnDefinitions: columns === "none" ? null : shape.columns.map((column) => ({ ...column })),
    rows: !shape.own && rows.length === 0 ? null : rows,
  };
}

function included(object: JsonObject, include: IncludeObject, apiVersion: string): JsonObject | null {
  if (include === "None") return null;
  return include === "Object" ? object : { ...partialMetadata(object), apiVersion };
}

/** An object without all but its metadata, as metadata-only clients ask for it. */
export function partialMetadata(object: JsonObject): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: object.metadata ?? {},
  };
}
