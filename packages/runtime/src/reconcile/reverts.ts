import type { KubernetesObject } from "@windlass/client";

/** When a child was put back to what is wanted, because others had changed it. */
export interface Reverts {
  readonly at: readonly number[];
  /** When that was last reported. */
  readonly reportedAt?: number;
}

/** So often within the window is no person that tries something. */
export const mostReverts = 5;

const windowMs = 10 * 60_000;
const reportPauseMs = 3_600_000;

/** Counts one more, and decides whether it is time to report who changes the child. Pure. */
export function afterRevert(
  before: Reverts | undefined,
  now: number,
): { readonly reverts: Reverts; readonly isToReport: boolean } {
  const at = [...(before?.at ?? []).filter((one) => now - one <= windowMs), now].slice(-mostReverts);
  const { reportedAt } = before ?? {};
  const isToReport =
    at.length === mostReverts && (reportedAt === undefined || now - reportedAt >= reportPauseMs);
  const said = isToReport ? now : reportedAt;
  return { reverts: { at, ...(said === undefined ? {} : { reportedAt: said }) }, isToReport };
}

/**
 * The field managers that changed an object last, besides one: several if they did within the same
 * second, which is as exact as the server's record is.
 */
export function lastManagers({ metadata }: KubernetesObject, except: string): readonly string[] {
  const others = (metadata.managedFields ?? []).filter(({ manager }) => manager !== except);
  const last = others
    .map(({ time }) => time ?? "")
    .sort()
    .at(-1);
  const names = others
    .filter(({ time }) => (time ?? "") === last)
    .map(({ manager = "", subresource }) => (subresource ? `${manager} (${subresource})` : manager));
  return [...new Set(names)].filter((name) => name !== "").sort();
}
