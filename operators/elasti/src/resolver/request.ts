/**
 * The field of a request that asks where its connection leads, with a nonce. The resolver answers
 * with the same field, whose value is made from the nonce and a key: a server that repeats what it
 * is sent is not mistaken for the resolver.
 */
export const pathProbeHeader = "elasti-path-probe";

/** The parts of a request, of any version of HTTP, that decide what happens to it. */
export interface RequestView {
  readonly method: string;
  /** A path with its query, or `*`. */
  readonly target: string;
  readonly host: string | undefined;
  /** The value of `pathProbeHeader`; mostly there is none. */
  readonly pathProbe: string | undefined;
  /** The value of a field, by its name in lower case; several are joined by commas. */
  header(name: string): string | undefined;
}
