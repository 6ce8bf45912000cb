import {
  evaluate,
  type Json,
  JsonnetError,
  locationText,
  plain,
  UnsupportedJsonnetError,
} from "../jsonnet/index.ts";
import { ports } from "./ports.ts";
import { checkMessage, type Fault } from "./schema/check.ts";
import { checkMeaning } from "./schema/rules.ts";
import { type Schema, schemaOf } from "./schema/schema.ts";
import type { Program, Version } from "./versions.ts";

/** A configuration as a pod would find it. */
export interface Configuration {
  readonly program: Program;
  readonly version: Version;
  /** The files at /config, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** The file that the program is given. */
  readonly entry: string;
  /** The variables of the container's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What is known of a configuration before it is used. */
export type Checked =
  | { readonly is: "valid"; readonly json: Json }
  /** Each fault begins with file, line and column. */
  | { readonly is: "invalid"; readonly faults: readonly string[] }
  /** It may be right: it uses what this evaluator does not have. */
  | { readonly is: "unknown"; readonly why: string };

/** Evaluates a configuration as the program would, and finds what it would refuse. */
export function checkConfiguration(configuration: Configuration): Checked {
  const { program, version, files, entry, environment } = configuration;
  try {
    const json = evaluate(entry, { files, extVars: environment });
    const faults = [
      ...checkMessage(json, `${program}.ApplicationConfiguration`, schemas[version]),
      ...checkMeaning(json, {
        program,
        version,
        diagnosticsPort: program === "bb_runner" ? ports.runnerDiagnostics : ports.diagnostics,
      }),
    ];
    return faults.length === 0
      ? { is: "valid", json: plain(json) }
      : { is: "invalid", faults: faults.map(faultText) };
  } catch (error) {
    if (error instanceof UnsupportedJsonnetError) return { is: "unknown", why: error.message };
    if (error instanceof JsonnetError) return { is: "invalid", faults: [error.message] };
    throw error;
  }
}

const schemas: Readonly<Record<Version, Schema>> = {
  "2025-02": schemaOf("2025-02"),
  "2026-08": schemaOf("2026-08"),
};

function faultText({ at, path, fault }: Fault): string {
  return `${locationText(at)}: ${path === "" ? "the configuration" : path} ${fault}`;
}
