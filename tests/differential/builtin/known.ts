import { count } from "../tally.ts";
import type { Difference } from "./compare.ts";

/** Differences that are known, with the reason. Whoever takes away a reason takes away its entry. */
const known: readonly { readonly why: string; readonly covers: (line: string, of: Difference) => boolean }[] =
  [
    {
      why: "an entry of managedFields that came through scale has no time, and so comes first",
      covers: (line, { story }) => story === "deployment" && line.startsWith("metadata.managedFields["),
    },
    {
      why: "raw JSON is one field to managedFields; here its own fields are told apart",
      covers: (line, { story }) => story === "controllerrevision" && line.includes("f:data.f:"),
    },
    {
      why: "requests that are refused are answered without the warning that their kind is deprecated",
      covers: (line, { story }) => story === "endpoints" && line.startsWith("warnings: "),
    },
  ];

/** The difference without what is known of it, which is counted by its reason; undefined if nothing is left. */
export function unexplained(difference: Difference, reasons: Map<string, number>): Difference | undefined {
  const differs = difference.differs.filter((line) => {
    const found = known.find(({ covers }) => covers(line, difference));
    if (found) count(reasons, found.why);
    return !found;
  });
  return differs.length === 0 ? undefined : { ...difference, differs };
}
