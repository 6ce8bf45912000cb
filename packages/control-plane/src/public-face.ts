import { type ControlPlaneOptions, ControlPlane as EmbeddedControlPlane } from "./control-plane.ts";

/** A control plane without its internals: its state is read through the API. */
export type ControlPlane = Omit<EmbeddedControlPlane, "registry" | "store" | "tokens">;

/**
 * A Kubernetes API server and its controllers in this process, for developing and testing
 * operators.
 *
 * @example
 * await using cluster = await ControlPlane.start();
 * const client = new Client({ transport: cluster.connect() });
 */
export const ControlPlane: {
  /** Starts one, ready to be asked. */
  start(options?: ControlPlaneOptions): Promise<ControlPlane>;
  /** Loads what is otherwise loaded when it is first needed. */
  preload(): Promise<void>;
} = EmbeddedControlPlane;
