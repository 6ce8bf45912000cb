import { createHash } from "node:crypto";
import { isForbidden, type Writer } from "@windlass/client";
import { type Clock, systemClock } from "@windlass/clock";
import { TokenReview } from "@windlass/runtime/kinds";
import { AuthenticationError, VerifierUnavailableError } from "./errors.ts";
import type { Identity } from "./identity.ts";

/**
 * The audience that a service account's token must be meant for. One for the API server itself is
 * not taken: it could be passed on.
 */
export const defaultAudience = "buildkit-controller";

/** How service accounts are recognized. */
export interface ServiceAccountOptions {
  readonly client: Pick<Writer, "create">;
  /** @default "buildkit-controller" */
  readonly audience?: string;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

type Verdict =
  | { readonly is: "accepted"; readonly identity: Identity }
  | { readonly is: "refused"; readonly why: string };

/** How long a review is believed: a client that polls must not become a review each time. */
const BELIEVED_MS = 10_000;
const MOST_REMEMBERED = 10_000;
const accountName = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/;

/**
 * Has the API server say whose token it is: only it knows whether the account, and the pod a token
 * is bound to, still exist.
 */
export class ServiceAccounts {
  readonly #client: Pick<Writer, "create">;
  readonly #audience: string;
  readonly #clock: Clock;
  readonly #verdicts = new Map<string, { readonly verdict: Verdict; readonly until: number }>();

  constructor({ client, audience = defaultAudience, clock = systemClock }: ServiceAccountOptions) {
    this.#client = client;
    this.#audience = audience;
    this.#clock = clock;
  }

  /** @throws AuthenticationError, VerifierUnavailableError. */
  async verify(token: string, signal?: AbortSignal): Promise<Identity> {
    const verdict = await this.#verdictOn(token, signal);
    if (verdict.is === "accepted") return verdict.identity;
    throw new AuthenticationError("the token is not accepted", `TokenReview: ${verdict.why}`);
  }

  async #verdictOn(token: string, signal: AbortSignal | undefined): Promise<Verdict> {
    // A hash, so that no token stays in memory longer than its request.
    const key = createHash("sha256").update(token).digest("base64");
    const now = this.#clock.monotonic();
    const known = this.#verdicts.get(key);
    if (known && now < known.until) return known.verdict;
    const verdict = await this.#review(token, signal);
    if (this.#verdicts.size >= MOST_REMEMBERED) this.#forget(now);
    this.#verdicts.set(key, { verdict, until: now + BELIEVED_MS });
    return verdict;
  }

  async #review(token: string, signal: AbortSignal | undefined): Promise<Verdict> {
    const spec = { token, audiences: [this.#audience] };
    const { status = {} } = await this.#client
      .create(TokenReview, { metadata: {}, spec }, signal ? { signal } : {})
      .catch((error: unknown) => {
        if (signal?.aborted) throw error;
        const message = error instanceof Error ? error.message : String(error);
        throw new VerifierUnavailableError(
          isForbidden(error)
            ? `this server may not create TokenReviews; grant it system:auth-delegator: ${message}`
            : `the API server did not review the token: ${message}`,
        );
      });
    if (status.authenticated !== true) return { is: "refused", why: status.error ?? "not authenticated" };
    // A server that knows nothing of audiences names none, and would take any token.
    if (!status.audiences?.includes(this.#audience))
      return { is: "refused", why: `it is not meant for audience ${this.#audience}` };
    const { username = "", groups = [], extra = {} } = status.user ?? {};
    const [, namespace] = accountName.exec(username) ?? [];
    if (namespace === undefined) return { is: "refused", why: `${username} is no service account` };
    return {
      is: "accepted",
      identity: {
        user: username,
        id: username,
        groups,
        claims: extra,
        origin: { is: "service-account", namespace },
      },
    };
  }

  #forget(now: number): void {
    for (const [key, { until }] of this.#verdicts) if (now >= until) this.#verdicts.delete(key);
    // Still full of fresh ones: a client sends one token after the other.
    if (this.#verdicts.size >= MOST_REMEMBERED) this.#verdicts.clear();
  }
}
