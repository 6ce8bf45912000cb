import type { Difference } from "../differences.ts";
import type { Sending } from "../servers.ts";

/** A difference that stays, and why. */
export interface KnownDifference {
  readonly reason: string;
  readonly covers: (sending: Sending, difference: Difference) => boolean;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    reason:
      "columns of tables are not described: the words are Kubernetes' own, and kubectl does not show them",
    covers: (_, { at }) => /\.columnDefinitions\[\d+\]\.description$/.test(at),
  },
  {
    reason: "the parser of YAML has words of its own for what it cannot read",
    covers: (_, { at, real }) => at === "body.message" && /: yaml: /.test(String(real)),
  },
  {
    reason: "the real server panics on malformed protobuf, for custom kinds",
    covers: ({ contentType }, { at, real }) =>
      contentType === "application/vnd.kubernetes.protobuf" &&
      at === "status" &&
      (real as unknown[])[0] === 0,
  },
  {
    reason:
      "of several values of the wrong type, another one is named: Go meets them in the order of their names",
    covers: (_, { at, real, ours }) =>
      at.endsWith("message") &&
      [real, ours].every((text) => /json: cannot unmarshal|illegal base64/.test(String(text))),
  },
  {
    reason: "an empty list that is left out where it is empty is shown as null by a message that quotes it",
    covers: (_, { real, ours }) =>
      String(real).replace("Invalid value: []", "Invalid value: null") === String(ours),
  },
  {
    reason:
      "what waits for its dependents is let go by another policy; the real server then fails on the version it was given as expected",
    covers: ({ method }, { at, real }) =>
      method === "DELETE" &&
      at === "status" &&
      /ResourceVersion in precondition: ,/.test(JSON.stringify(real)),
  },
];
