import type { Certificates } from "./certificates.ts";
import { Turns } from "./turns.ts";

/**
 * No certificates at all, for a server that has no socket. Configurations are still installed, if
 * that is asked for.
 */
export const withoutCertificates: Certificates = {
  secretFor: () => undefined,
  keep: async (dependencies) => {
    const { install, clock, random, log } = dependencies;
    if (!install) return { fault: () => undefined, close: () => undefined };
    const { Trust } = await import("./trust.ts");
    const turns: Turns = new Turns({
      clock,
      random,
      log,
      what: "the webhook configurations cannot be maintained",
      turn: async () => {
        await trust.inject([], clock.now(), 0);
        return Number.POSITIVE_INFINITY;
      },
    });
    const trust = new Trust(dependencies, () => void turns.take());
    await trust.seen();
    await turns.take();
    return {
      fault: () => turns.fault,
      close: async () => {
        trust.close();
        await turns.close();
      },
    };
  },
};
