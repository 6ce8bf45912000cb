import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedGoField, RecordedGoPackage, RecordedGoType } from "@windlass/kinds/go-types";

/**
 * What the code must know of a package: `core.v1` of `k8s.io/api/core/v1`, `resource` of
 * `…/api/resource`.
 */
export function packageId(path: string): string {
  const segments = path.split(/[/.]/);
  const last = segments.at(-1) ?? "";
  return /^v\d/.test(last) ? `${segments.at(-2)}.${last}` : last;
}

/** Types that marshal themselves, so their fields say nothing of their JSON. */
const opaque = new Set([
  "intstr.IntOrString",
  "meta.v1.Duration",
  "meta.v1.FieldsV1",
  "meta.v1.MicroTime",
  "meta.v1.Time",
  "resource.Quantity",
  "runtime.RawExtension",
]);

/**
 * Reads the type declarations of one Go package. Understands the subset of Go that API types are
 * written in.
 */
export function readGoPackage(directory: string, path: string): RecordedGoPackage {
  const id = packageId(path);
  const types: { [name: string]: RecordedGoType } = {};
  const files = readdirSync(directory)
    .filter(
      (file) => file.endsWith(".go") && !/_test\.go$|^zz_|generated\.|_fuzz\.go$|_proto\.go$/.test(file),
    )
    .sort();
  for (const file of files) {
    const source = withoutComments(readFileSync(join(directory, file), "utf8"));
    const imports = readImports(source);
    for (const declaration of source.matchAll(/^type ([A-Z]\w*) (struct \{\n[\s\S]*?\n\}|[^\n]+)$/gm)) {
      const [, name, body] = declaration;
      if (!name || !body || opaque.has(`${id}.${name}`) || /^(interface|func|=)/.test(body)) continue;
      if (body.startsWith("struct")) types[name] = readFields(body, imports);
      else types[name] = qualify(body.trim(), imports);
    }
  }
  return { types, wrapped: wrappedLists(directory, types) };
}

function withoutComments(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*\n/gm, "")
    .replace(/[ \t]\/\/[^`\n]*$/gm, "");
}

function readImports(source: string): Map<string, string> {
  const imports = new Map<string, string>();
  for (const match of source.matchAll(/^(?:import )?\s*(\w+)?\s*"([^"\s]+)"$/gm)) {
    const path = match[2] ?? "";
    imports.set(match[1] ?? path.split("/").at(-1) ?? path, packageId(path));
  }
  return imports;
}

function readFields(body: string, imports: Map<string, string>): RecordedGoField[] {
  const fields: RecordedGoField[] = [];
  for (const line of body.split("\n").slice(1, -1)) {
    // Unexported fields are on no wire.
    if (/^\s*[a-z]\w*[ ,]/.test(line)) continue;
    const match = /^\s*(?:(\w+)\s+)?([^\s`]+)(?:\s+`([^`]*)`)?\s*$/.exec(line);
    if (!match) {
      if (line.trim() !== "") throw new Error(`not understood: ${line}`);
      continue;
    }
    const [, name, type = "", tags = ""] = match;
    const json = /json:"([^"]*)"/.exec(tags)?.[1];
    const number = Number(/protobuf:"\w+,(\d+),/.exec(tags)?.[1] ?? 0);
    const [given = "", ...options] = (json ?? "").split(",");
    if (given === "-" && number === 0) continue;
    const inline = options.includes("inline") || (name === undefined && given === "");
    const flags = [
      options.includes("omitempty") ? "o" : "",
      options.includes("omitzero") ? "z" : "",
      inline ? "i" : "",
    ].join("");
    fields.push([inline ? "" : given || (name ?? ""), qualify(type, imports), flags, number]);
  }
  return fields;
}

/**
 * `[]metav1.Condition` with the file's imports is `[]meta.v1.Condition`; names of the same package
 * stay bare.
 */
function qualify(type: string, imports: Map<string, string>): string {
  return type.replace(/\b(\w+)\.(\w+)/g, (_, alias: string, name: string) => {
    return `${imports.get(alias) ?? alias}.${name}`;
  });
}

function wrappedLists(directory: string, types: { [name: string]: RecordedGoType }): string[] {
  if (!readdirSync(directory).includes("generated.proto")) return [];
  const proto = readFileSync(join(directory, "generated.proto"), "utf8");
  const messages = new Set([...proto.matchAll(/^message (\w+) \{/gm)].map((match) => match[1]));
  return Object.keys(types)
    .filter((name) => messages.has(name) && String(types[name]).startsWith("[]"))
    .sort();
}

/**
 * Throws when a field number read from a Go tag is not the one the published protobuf definition
 * gives.
 */
export function checkAgainstProto(
  directory: string,
  path: string,
  types: { [name: string]: RecordedGoType },
): void {
  if (!readdirSync(directory).includes("generated.proto")) return;
  const proto = withoutComments(readFileSync(join(directory, "generated.proto"), "utf8"));
  for (const message of proto.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const type = types[message[1] ?? ""];
    if (!Array.isArray(type)) continue;
    const ours = new Set(type.map((field: RecordedGoField) => field[3]));
    for (const field of (message[2] ?? "").matchAll(/ = (\d+)[;\s[]/g)) {
      if (!ours.has(Number(field[1]))) {
        throw new Error(
          `${path}.${message[1]}: the field numbered ${field[1]} was not found in its Go source`,
        );
      }
    }
  }
}
