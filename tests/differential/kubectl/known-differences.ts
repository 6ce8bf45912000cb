import type { Invocation, Output } from "./session.ts";

/** A difference that stays, and why. */
export interface KnownDifference {
  readonly reason: string;
  readonly covers: (invocation: Invocation, real: Output, ours: Output) => boolean;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    reason: "what Kubernetes defines is explained without descriptions: the words are its own",
    covers: ({ args }, real, ours) => {
      const known = new Set(["", "<empty>", ...real.stdout.split("\n").map((line) => line.trim())]);
      return args[0] === "explain" && ours.stdout.split("\n").every((line) => known.has(line.trim()));
    },
  },
  {
    reason:
      "what changed in the spec of a pod or a claim is named, not shown as a difference of two Go values",
    covers: (_, real, ours) =>
      [real, ours].every(({ stderr }) =>
        /Forbidden: (pod updates may not change fields|spec is immutable after creation)/.test(stderr),
      ),
  },
  {
    reason: "simulated containers run no program, and so say nothing",
    covers: ({ args }, real, ours) => args[0] === "logs" && real.code === 0 && ours.stdout === "",
  },
];
