import { createHash } from "node:crypto";
import { TokenReview } from "@windlass/runtime/kinds";
import type { WakeServerOptions } from "./wake-server.ts";

/** How long an answer is believed: a resolver asks again every few seconds while requests wait. */
const believedMs = 60_000;
const mostRemembered = 1_000;

/**
 * Has the API server say whose token it is. Takes tokens of service accounts that are meant for
 * this audience: one for the API server itself is not taken, because it could be passed on.
 *
 * @param account the only account that is taken, as `namespace:name`. @default any
 */
export function tokenCheck(audience: string, account?: string): NonNullable<WakeServerOptions["authorize"]> {
  const believed = new Map<string, number>();
  return async (token, { client, clock, signal }) => {
    if (token === undefined) return false;
    // A hash, so that no token stays in memory longer than its request.
    const key = createHash("sha256").update(token).digest("base64");
    const now = clock.monotonic();
    if (now < (believed.get(key) ?? 0)) return true;
    const spec = { token, audiences: [audience] };
    const { status = {} } = await client.create(TokenReview, { metadata: {}, spec }, { signal });
    const { authenticated, audiences, user } = status;
    const wanted = `system:serviceaccount:${account ?? ""}`;
    const isTaken = account === undefined ? user?.username?.startsWith(wanted) : user?.username === wanted;
    if (authenticated !== true || !audiences?.includes(audience) || isTaken !== true) return false;
    if (believed.size >= mostRemembered) believed.clear();
    believed.set(key, now + believedMs);
    return true;
  };
}
