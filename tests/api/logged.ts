import type { Logger } from "@windlass/runtime";

/** A logger that keeps what is logged at the levels that people read: `warn` and above. */
export function keepLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const nothing = () => undefined;
  const keep = (given: object | string, words?: string) => {
    const [fields, message] = typeof given === "string" ? [{}, given] : [given, words];
    const { error, reason } = fields as { error?: string; reason?: string };
    lines.push([message, reason, error].filter((part) => part !== undefined).join(": "));
  };
  const log: Logger = { debug: nothing, info: nothing, warn: keep, error: keep, child: () => log };
  return { log, lines };
}
