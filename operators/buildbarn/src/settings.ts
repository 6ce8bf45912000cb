import { z } from "zod";

/** What the installer may set. */
export const Settings = z.object({
  WATCH_NAMESPACES: z
    .string()
    .default("")
    .describe("Only these namespaces are watched, separated by commas; all if empty"),
});

/** What is watched: all of it if nothing is named. */
export function watchedNamespaces(environment: NodeJS.ProcessEnv): {
  readonly namespaces?: readonly string[];
} {
  const { WATCH_NAMESPACES: text } = Settings.parse(environment);
  const namespaces = text.split(/[\s,]+/).filter((name) => name !== "");
  return namespaces.length === 0 ? {} : { namespaces };
}
