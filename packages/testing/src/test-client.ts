import { Client, type ClientOptions } from "@windlass/client";
import type { Duration } from "@windlass/clock";
import type { RecentLog } from "./recent-log.ts";

/** A test's client. Waits that fail through it show what the operators of the test logged last. */
export class TestClient extends Client {
  /** What operators logged that run on the same cluster. */
  readonly operatorLog: RecentLog;

  /** How long waits through this client take unless they say otherwise. */
  readonly waitTimeout: Duration;

  constructor(options: ClientOptions, operatorLog: RecentLog, waitTimeout: Duration) {
    super(options);
    this.operatorLog = operatorLog;
    this.waitTimeout = waitTimeout;
  }
}
