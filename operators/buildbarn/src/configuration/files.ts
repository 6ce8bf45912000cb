import { type Document, print } from "./document.ts";

/** The file of fields that are shared by several others. */
export const commonFile = "common.libsonnet";
/** The file of a user's own fields. */
export const overridesFile = "overrides.libsonnet";

/** The files of a component: those of the original's ConfigMap that it uses. */
export interface ComponentFiles {
  readonly common: Document;
  /** By name, e.g. `scheduler.jsonnet`. */
  readonly documents: Readonly<Record<string, Document>>;
  /** Jsonnet that is added to the first of them. */
  readonly overrides: string | undefined;
}

const heading = "// Written by the Buildbarn operator.\n";

/** The text of each file, by name. The same input gives the same text. */
export function componentFiles({
  common,
  documents,
  overrides,
}: ComponentFiles): Readonly<Record<string, string>> {
  const own = Object.entries(documents).map(([name, document], index) => {
    const added = index === 0 && overrides !== undefined ? `\n+ (import '${overridesFile}')` : "";
    return [
      name,
      `${heading}local common = import '${commonFile}';\n\n${print(document)}${added}\n`,
    ] as const;
  });
  return {
    [commonFile]: `${heading}${print(common)}\n`,
    ...Object.fromEntries(own),
    ...(overrides !== undefined && { [overridesFile]: overrides }),
  };
}
