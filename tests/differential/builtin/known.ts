import type { Difference } from "./compare.ts";

/** Differences that are known, with the reason. Whoever takes away a reason takes away its entry. */
const known: readonly { readonly why: string; readonly covers: (line: string, of: Difference) => boolean }[] =
  [
    {
      why: "labels sent with a status are kept for every kind but Deployments; here for none",
      covers: (line) => /^metadata\.labels(\.s)?: /.test(line),
    },
    {
      why: "the order of managedFields follows their times, which may fall on one second or on two; scale's have none",
      covers: (line) => /^metadata\.managedFields\[\d+\]/.test(line) && !line.includes("f:stopSignal"),
    },
    {
      why: "raw JSON is one field to managedFields; here its own fields are told apart",
      covers: (line, { story }) => story === "controllerrevision" && line.includes("f:data"),
    },
    {
      why: "requests that are refused are answered without their warnings",
      covers: (line) => line.startsWith("warnings: ") && line.endsWith(", ours []"),
    },
    {
      why: "the node of a pod can be set at its main endpoint, as the binding subresource does it there",
      covers: (_line, { story, step }) => story === "pod update" && step >= 15 && step < 36,
    },
    {
      why: "a pod that goes at once is answered as it was stored, without the time of its deletion",
      covers: (line, { story }) =>
        story === "pod update" && /^metadata\.(deletion|generation)|^spec\.nodeName/.test(line),
    },
  ];

/** The difference without what is known of it; undefined if nothing is left. */
export function unexplained(difference: Difference): Difference | undefined {
  const differs = difference.differs.filter((line) => !known.some(({ covers }) => covers(line, difference)));
  return differs.length === 0 ? undefined : { ...difference, differs };
}
