import type { AnyKind, Log } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { describeKind } from "./errors.ts";
import type { Trouble } from "./reflector.ts";

export interface TroubleLogOptions {
  readonly kind: AnyKind;
  readonly log: Log;
  readonly clock: Clock;
  /** Whether the owner of the connection tells when the server as a whole does not answer. */
  readonly outagesAreTold: boolean;
}

/** How often a trouble that lasts is told again. */
const REMINDER_MS = 60_000;

/**
 * Says what keeps an informer from its objects: once for each cause, again every minute while it lasts, and once when it is over.
 * What passes at the first retry is not worth a line.
 */
export class TroubleLog {
  readonly #options: TroubleLogOptions;
  #cause = "";
  #toldAt = Number.NEGATIVE_INFINITY;
  #isTold = false;

  constructor(options: TroubleLogOptions) {
    this.#options = options;
  }

  failed(next: "list" | "watch", why: Trouble, failures: number): void {
    const { kind, log, clock, outagesAreTold } = this.#options;
    const fields = { kind: kind.kind, failures, reason: why.message };
    const hint = lacksRight(why) ? ". rbacFor(…) makes the roles that controllers need" : "";
    const message = `cannot ${next} ${describeKind(kind)}; trying again${hint}`;
    const cause = `${why.is} ${why.message}`;
    const now = clock.monotonic();
    const isOutage = (why.is === "unreachable" || why.is === "passing") && why.isOutage === true;
    const isSmall = failures <= 1 && why.is !== "refused";
    const isOld = cause === this.#cause && now - this.#toldAt < REMINDER_MS;
    if (isSmall || isOld || (isOutage && outagesAreTold)) {
      log.debug(fields, message);
      return;
    }
    this.#cause = cause;
    this.#toldAt = now;
    this.#isTold = true;
    log.warn(fields, message);
  }

  /** The server gave a sign of life. */
  heard(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    const { kind, log } = this.#options;
    log.info({ kind: kind.kind }, `${describeKind(kind)} is received again`);
  }
}

function lacksRight(why: Trouble): boolean {
  return why.is === "refused" && !why.forGood;
}
