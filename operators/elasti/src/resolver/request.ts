import type { Failure } from "./failure.ts";
import type { OwnResponse } from "./http1/answer.ts";
import type { ServicePort } from "./service.ts";

/** The field of a request that asks where its connection leads. It is answered by the resolver, with the same field. */
export const pathProbeHeader = "elasti-path-probe";

/** A request as far as it decides what becomes of it, of any version of HTTP. */
export interface RequestView {
  readonly method: string;
  /** A path with its query, or `*`. */
  readonly target: string;
  readonly host: string | undefined;
  /** What `pathProbeHeader` says; mostly nothing. */
  readonly pathProbe: string | undefined;
  /** The value of a field, by its name in lower case; several are joined by commas. */
  header(name: string): string | undefined;
}

/** What becomes of a request. */
export type Decision =
  /** The endpoints of a port serve it. */
  | {
      readonly do: "forward";
      readonly port: ServicePort;
      /** How long it may wait. */
      readonly holdMs: number;
      /** The answer if it has waited so long. @default 504 */
      readonly afterHold?: OwnResponse;
    }
  /** The resolver answers it. */
  | { readonly do: "answer"; readonly response: OwnResponse }
  | { readonly do: "fail"; readonly failure: Failure };
