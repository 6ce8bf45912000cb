import type { AnyKind, Log } from "@windlass/client";
import { countOf, type Reminders } from "../logging/reminder.ts";
import { describeKind } from "./errors.ts";
import { kindIdOf } from "./kind-id.ts";
import type { Trouble } from "./reflector.ts";

export interface TroubleLogOptions {
  readonly kind: AnyKind;
  readonly log: Log;
  /** Of all informers of a cache together: what several kinds or namespaces meet alike is told once. */
  readonly reminders: Reminders;
  /** Whether the owner of the connection tells when the server as a whole does not answer. */
  readonly outagesAreTold: boolean;
}

/**
 * Says what keeps an informer from its objects: once for each cause, again after ever longer pauses while it lasts, and once when it is
 * over. What passes at the first retry is not worth a line. A missing right is one cause, in however many namespaces it is missing.
 */
export class TroubleLog {
  readonly #options: TroubleLogOptions;
  #isTold = false;

  constructor(options: TroubleLogOptions) {
    this.#options = options;
  }

  failed(next: "list" | "watch", why: Trouble, failures: number): void {
    const { kind, log, reminders, outagesAreTold } = this.#options;
    const hint = lacksRight(why) ? ". rbacFor(…) makes the roles that controllers need" : "";
    const message = `cannot ${next} ${describeKind(kind)}; trying again${hint}`;
    const fields = { kind: kind.kind, failures, reason: why.message };
    const isOutage = (why.is === "unreachable" || why.is === "passing") && why.isOutage === true;
    const isSmall = failures <= 1 && why.is !== "refused";
    if (isSmall || (isOutage && outagesAreTold)) {
      log.debug(fields, message);
      return;
    }
    const cause = lacksRight(why) ? `may not ${next}` : `${why.is} ${why.message}`;
    const telling = reminders.met(`${kindIdOf(kind)} ${cause}`);
    if (telling.as === "known") {
      log.debug(fields, message);
      return;
    }
    this.#isTold = true;
    log.warn({ ...fields, ...countOf(telling) }, message);
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
