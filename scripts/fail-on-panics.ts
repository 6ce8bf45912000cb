import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll } from "vitest";
import { PANIC_CHANNEL, type Panic } from "../packages/control-plane/src/panic.ts";

/**
 * Fails the run by an error inside a control plane that no test looks at: an error of a subscriber
 * is one that is not caught.
 */
const fail = (message: unknown) => {
  const { error, where } = message as Panic;
  throw new Error(`inside a control plane: ${where}`, { cause: error });
};

subscribe(PANIC_CHANNEL, fail);
afterAll(() => {
  unsubscribe(PANIC_CHANNEL, fail);
});
