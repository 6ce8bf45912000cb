import { ApiError, TransportError } from "@windlass/client";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { LogThrottle } from "../logging/log-throttle.ts";
import { FailureLog } from "./failure-log.ts";
import { requestFailureOf } from "./list-watcher.ts";
import type { RequestFailure } from "./reflector.ts";

const kind = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" } as const;
const busy: RequestFailure = { is: "passing", message: "the server is busy" };

function loggedFailures(isServerOut = false) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const note = (level: string) => (fields: object, message: string) => {
    const { reason } = fields as { reason?: string };
    lines.push([level, message, reason].filter((part) => part !== undefined).join(": "));
  };
  const log = { debug: () => undefined, info: note("info"), warn: note("warn"), error: note("error") };
  const throttle = new LogThrottle(clock);
  const open = () => new FailureLog({ kind, log, throttle, isServerOut: () => isServerOut });
  return { clock, lines, open, log: open() };
}

test("a failure is logged once, again after a minute, and once when it is over", async () => {
  const { clock, lines, log } = loggedFailures();
  for (let failures = 1; failures <= 61; failures++) {
    log.failed("list", busy, failures);
    await clock.advance(1_000);
  }
  const told = "warn: cannot list Secret (v1); trying again: the server is busy";
  expect(lines).toEqual([told]);
  log.failed("list", busy, 62);
  expect(lines).toEqual([told, told]);
  log.heard();
  log.heard();
  expect(lines.slice(2)).toEqual(["info: Secret (v1) is received again"]);
});

test("what passes at the first retry is not logged, and another cause is logged at once", () => {
  const { lines, log } = loggedFailures();
  log.failed("watch", busy, 1);
  log.heard();
  expect(lines).toEqual([]);
  log.failed("watch", busy, 2);
  log.failed("watch", { is: "passing", message: "the server failed" }, 3);
  expect(lines).toHaveLength(2);
});

test("a failure that comes and goes is not told each time", () => {
  const { lines, log } = loggedFailures();
  for (let round = 0; round < 10; round++) {
    log.failed("watch", busy, 2);
    log.heard();
  }
  expect(lines).toHaveLength(2);
});

test("a missing right names what to grant to whom, and what makes roles", () => {
  const { lines, log } = loggedFailures();
  const message =
    'secrets is forbidden: User "system:serviceaccount:a:b" cannot list resource "secrets" in API group "" at the cluster scope';
  const denied = new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message });
  for (let failures = 1; failures < 9; failures++) log.failed("list", requestFailureOf(denied), failures);
  expect(lines).toEqual([
    `warn: cannot list Secret (v1); trying again. rbacFor(…) makes the roles that controllers need: ${message}; grant it: a ClusterRole with the rule {apiGroups: [""], resources: ["secrets"], verbs: ["list"]}, bound to ServiceAccount a/b by a ClusterRoleBinding`,
  ]);
});

test("a right that is missing in many namespaces is logged once", () => {
  const { lines, open } = loggedFailures();
  for (const namespace of ["a", "b", "c"]) {
    const message = `secrets is forbidden: User "u" cannot list resource "secrets" in API group "" in the namespace "${namespace}"`;
    const denied = new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message });
    const log = open();
    for (let failures = 1; failures < 9; failures++) log.failed("list", requestFailureOf(denied), failures);
  }
  expect(lines).toHaveLength(1);
});

test("that no server answers is left to the one log line for all kinds", () => {
  const failed = [
    new TransportError("CONNECTION_REFUSED", "nothing listens"),
    new TransportError("CERTIFICATE_EXPIRED", "expired"),
    new ApiError({ kind: "Status", code: 401, reason: "Unauthorized" }),
  ].map(requestFailureOf);
  const [alone, together] = [loggedFailures(false), loggedFailures(true)];
  for (const failure of failed) for (const { log } of [alone, together]) log.failed("list", failure, 2);
  expect(alone.lines).toHaveLength(3);
  expect(together.lines).toEqual([]);
});
