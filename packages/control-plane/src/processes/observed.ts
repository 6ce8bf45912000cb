/** What is known of one run of a container. */
export type Observed =
  /** Nothing: it was never started, or by a control plane that is gone. */
  | { readonly at: "absent" }
  | { readonly at: "starting" }
  /** It cannot be started now; it is tried again when something changes. */
  | { readonly at: "held"; readonly reason: string; readonly message: string }
  | {
      readonly at: "running";
      readonly startedAt: number;
      /** Its startup probe has succeeded. */
      readonly started: boolean;
      readonly ready: boolean;
    }
  | {
      readonly at: "exited";
      readonly startedAt: number;
      readonly finishedAt: number;
      readonly exitCode: number;
      readonly reason: string;
      readonly message: string | undefined;
    };

/** What is held back may be tried again after this long. */
export const retryMs = 5_000;
