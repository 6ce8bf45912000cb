import type { AnyKind, Log } from "@windlass/client";
import { countOf, type LogThrottle } from "../logging/log-throttle.ts";
import { describeKind } from "./errors.ts";
import { kindIdOf } from "./kind-id.ts";
import type { RequestFailure } from "./reflector.ts";

/** What a log of a reflector's failures needs. */
export interface FailureLogOptions {
  readonly kind: AnyKind;
  readonly log: Log;
  /**
   * Of all informers of a cache together: a failure that several kinds or namespaces share is
   * logged once.
   */
  readonly throttle: LogThrottle;
  /** Whether it is logged that no server answers. */
  readonly isServerOut: () => boolean;
}

/**
 * Logs what keeps an informer from its objects: once for each cause, again after doubling pauses
 * while it lasts, and once when it is over. A failure that the first retry mends is not logged. A
 * missing right is one cause, in however many namespaces it is missing.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  #isLogged = false;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  failed(next: "list" | "watch", why: RequestFailure, failures: number): void {
    const { kind, log, throttle, isServerOut } = this.#options;
    const hint = lacksRight(why) ? ". rbacFor(…) makes the roles that controllers need" : "";
    const message = `cannot ${next} ${describeKind(kind)}; trying again${hint}`;
    const fields = { kind: kind.kind, failures, reason: why.message };
    const isOutage = (why.is === "unreachable" || why.is === "passing") && why.isOutage === true;
    const isSmall = failures <= 1 && why.is !== "refused";
    if (isSmall || (isOutage && isServerOut())) {
      log.debug(fields, message);
      return;
    }
    const cause = lacksRight(why) ? `may not ${next}` : `${why.is} ${why.message}`;
    const decision = throttle.record(`${kindIdOf(kind)} ${cause}`);
    if (decision.as === "suppressed") {
      log.debug(fields, message);
      return;
    }
    this.#isLogged = true;
    log.warn({ ...fields, ...countOf(decision) }, message);
  }

  /** The server answered. */
  heard(): void {
    if (!this.#isLogged) return;
    this.#isLogged = false;
    const { kind, log } = this.#options;
    log.info({ kind: kind.kind }, `${describeKind(kind)} is received again`);
  }
}

function lacksRight(why: RequestFailure): boolean {
  return why.is === "refused" && !why.forGood;
}
