import type { Clock } from "@windlass/clock";
import type { Logger } from "../logging/logger.ts";
import type { ElectionRules } from "./election.ts";
import type { LeaseAddress } from "./elector.ts";
import { type Fence, type LeaseMemory, WriteFence } from "./fence.ts";

/** What a manager learns about leading. */
export interface LeadershipHandlers {
  readonly onLeading: () => void;
  readonly onLost: () => void;
  /**
   * The lease was renewed only after a look at it, because someone else had written it.
   *
   * @default nothing
   */
  readonly onSlowRenewal?: () => void;
}

/** Whether this process leads, and the ways to stop competing. */
export interface Leadership {
  readonly fence: Fence;
  readonly isLeading: boolean;
  /** What is wrong with the lease, if anything; for the readiness probe. */
  readonly fault: string | undefined;
  /**
   * Closes the fence, ends the campaign and then releases the lease, so that another leads at once.
   * Only for when all work of the leader has ended. Resolves when that is done.
   */
  release(): Promise<void>;
  /**
   * Closes the fence at once and ends the campaign. The lease is left to expire, as work of the
   * leader may not have ended.
   */
  abandon(): Promise<void>;
}

/** What it takes to compete for a lease, in whichever thread. */
export interface CampaignOptions {
  readonly rules: ElectionRules;
  readonly lease: LeaseAddress;
  readonly log: Logger;
  /** Whether it has been logged already that no server answers. @default never */
  readonly isServerOut?: () => boolean;
}

/** Leadership without competition: from the start until it is stopped. */
export function alwaysLeading(handlers: LeadershipHandlers): Leadership {
  const fence = new WriteFence(() => true);
  let isLeading = true;
  const stop = () => {
    fence.close();
    isLeading = false;
    return Promise.resolve();
  };
  fence.open();
  handlers.onLeading();
  return {
    fence,
    get isLeading() {
      return isLeading;
    },
    fault: undefined,
    release: stop,
    abandon: stop,
  };
}

/**
 * Leading, as the thread that writes sees it: begins when the lease is held, and ends at the latest
 * when the lease does, whether or not the one who renews it has a chance to say so.
 */
export class Tenure {
  readonly fence: WriteFence;
  readonly #lease: LeaseMemory;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #handlers: LeadershipHandlers;
  readonly #log: Logger;
  #isLeading = false;
  #isOver = false;
  #cancelExpiry: (() => void) | undefined;

  constructor(
    lease: LeaseMemory,
    clock: Pick<Clock, "schedule">,
    handlers: LeadershipHandlers,
    { lease: { namespace, name }, log, rules }: CampaignOptions,
  ) {
    this.fence = new WriteFence(() => lease.isHeld);
    this.#lease = lease;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#log = log.child({ lease: `${namespace}/${name}`, identity: rules.identity });
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Looks whether the lease is held. For when that may have changed, and when it is due to end. */
  readonly look = (): void => {
    this.#cancelExpiry?.();
    this.#cancelExpiry = undefined;
    const { leftMs, isHeld } = this.#lease;
    const isLeading = !this.#isOver && leftMs > 0;
    if (isLeading) this.#cancelExpiry = this.#clock.schedule(leftMs, this.look);
    this.#set(isLeading);
    // The machine slept, or its clock was set: whether this one still leads shows with the next
    // renewal.
    if (isLeading && !isHeld) this.fence.cut();
  };

  /** Ends it permanently, no matter who gets the lease. */
  end(): void {
    this.#isOver = true;
    this.look();
  }

  #set(isLeading: boolean): void {
    if (isLeading === this.#isLeading) return;
    this.#isLeading = isLeading;
    if (isLeading) this.fence.open();
    else this.fence.close();
    this.#log.info({}, isLeading ? "became the leader" : "no longer the leader");
    if (isLeading) this.#handlers.onLeading();
    else this.#handlers.onLost();
  }
}

/**
 * Says that the lease is out of reach: in the log as soon as the server has refused or failed, once
 * for each fault, and to the readiness probe once that has lasted longer than a lease does.
 */
export class Contact {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #patienceMs: number;
  readonly #log: Logger;
  readonly #isServerOut: () => boolean;
  #lastMs: number;
  #failure: string | undefined;

  constructor(
    clock: Pick<Clock, "monotonic">,
    { lease, log, rules, isServerOut = () => false }: CampaignOptions,
  ) {
    this.#isServerOut = isServerOut;
    this.#clock = clock;
    this.#patienceMs = rules.leaseDurationMs;
    this.#log = log.child({ lease: `${lease.namespace}/${lease.name}` });
    this.#lastMs = clock.monotonic();
  }

  readonly note = (failure: string | undefined): void => {
    if (failure === undefined) this.#lastMs = this.#clock.monotonic();
    else if (faultOf(failure) !== faultOf(this.#failure ?? ""))
      this.#log[this.#isServerOut() ? "debug" : "warn"](
        { error: failure },
        "the lease is out of reach; trying again",
      );
    this.#failure = failure;
  };

  get fault(): string | undefined {
    const silentMs = this.#clock.monotonic() - this.#lastMs;
    if (silentMs < this.#patienceMs) return undefined;
    return `no answer about the lease for ${Math.round(silentMs / 1000)} s: ${this.#failure ?? "nothing heard"}`;
  }
}

/** What is wrong, whichever of the requests about the lease it happened to. */
function faultOf(failure: string): string {
  return failure.replace(/^[A-Z]+ \S+: /, "");
}
