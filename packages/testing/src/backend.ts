import type { Transport } from "@windlass/client";
import type { ControlPlane } from "@windlass/control-plane";

/** What stands behind a test's cluster. */
export interface Backend {
  readonly controlPlane?: ControlPlane;
  readonly hasControllers: boolean;
  /** Whether others use it too, so that what was made must be taken away again. */
  readonly shared: boolean;
  transport(): Transport;
  kubeconfig(): Promise<string>;
  /** By which address its API server reaches this machine. @default 127.0.0.1 */
  hostOfThis?(): Promise<string>;
  close(): Promise<void>;
}
