import type { Failure } from "./failure.ts";
import type { OwnResponse } from "./http1/answer.ts";
import type { ServicePort } from "./service.ts";

/** What happens to a request. */
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
