import { type RecordedColumn, recordedColumns } from "@windlass/kinds/recorded";
import type { Cells } from "../builtin/declaration.ts";
import { declarationOf } from "../builtin/index.ts";
import { type Json, type JsonObject, stringify } from "../json.ts";
import { textAt } from "../json-fields.ts";
import { type KindInfo, type PrinterColumn, parseTime } from "../kinds/index.ts";
import { once } from "../memoised.ts";
import { humanDuration } from "./duration.ts";
import {
  evaluateJsonPath,
  type JsonPath,
  JsonPathError,
  type Patience,
  parseJsonPath,
  usualPatience,
} from "./json-path.ts";
import { nameAndCreation } from "./metadata-cells.ts";

/** What a table's header says of a column. A priority above 0 is shown by `-o wide` only. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** The columns of a kind, and how an object fills them. */
export interface TableShape {
  readonly columns: readonly ColumnDefinition[];
  readonly cells: Cells;
  /** Whether the kind has columns of its own, rather than those that every kind could have. */
  readonly own: boolean;
  readonly rowConditions?: (object: JsonObject) => JsonObject[];
  /** How much was looked at for the cells of the last row, if that may be a lot. */
  readonly visited?: () => number;
}

const recorded = once(recordedColumns);

/**
 * The shape of a kind's table. Custom kinds have theirs from their definition; without one they
 * show their age.
 */
export function tableShape(kind: KindInfo): TableShape {
  return kind.origin === "custom" ? customShape(kind.printerColumns) : builtinShape(kind);
}

function builtinShape(info: KindInfo): TableShape {
  const { group, version, plural } = info;
  const { cells, rowConditions } = declarationOf(info) ?? {};
  const own = recorded()[`${plural}.${group}/${version}`];
  const columns: readonly RecordedColumn[] = own ?? [
    ["Name", "string", "name", 0],
    ["Created At", "date", "", 0],
  ];
  return {
    columns: columns.map(define),
    cells: cells ?? nameAndCreation,
    own: cells !== undefined,
    ...(rowConditions ? { rowConditions } : {}),
  };
}

function define([name, type, format, priority]: RecordedColumn): ColumnDefinition {
  return { name, type, format, description: "", priority };
}

const ageColumn: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

function customShape(printerColumns: readonly PrinterColumn[] = []): TableShape {
  const given = printerColumns.length === 0 ? [ageColumn] : printerColumns;
  const columns = given.map(({ name, type, format = "", description, priority = 0, jsonPath }) => {
    const words = description === undefined || description === "" ? `JSONPath: ${jsonPath}` : description;
    return { name, type, format, description: words, priority };
  });
  const paths = given.map(({ jsonPath }) => readable(jsonPath));
  let visited = 0;
  return {
    columns: [define(["Name", "string", "name", 0]), ...columns],
    cells: (object, now) => {
      visited = 0;
      const cells = given.map(({ type }, index) => {
        const patience: Patience = { left: usualPatience };
        const cell = customCell(type, paths[index], object, now, patience);
        visited += usualPatience - patience.left;
        return cell;
      });
      return [textAt(object, "metadata", "name"), ...cells];
    },
    own: true,
    visited: () => visited,
  };
}

/**
 * A definition with a path that cannot be read is refused when it is created; one that got past
 * shows nothing.
 */
function readable(path: string): JsonPath | undefined {
  try {
    return parseJsonPath(path);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function customCell(
  type: string,
  path: JsonPath | undefined,
  object: JsonObject,
  now: number,
  patience: Patience,
): Json {
  const [value] = path === undefined ? [] : evaluateJsonPath(path, object, patience);
  if (value === undefined || value === null) return null;
  switch (type) {
    case "integer":
      if (typeof value === "bigint") return value;
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "string":
      return typeof value === "string" ? value : stringify(value);
    case "date":
      return typeof value === "string" ? dateCell(value, now) : null;
    default:
      return null;
  }
}

function dateCell(value: string, now: number): string {
  if (value === "") return "<unknown>";
  try {
    return humanDuration(now - parseTime(value, "seconds").ms);
  } catch {
    return "<invalid>";
  }
}
