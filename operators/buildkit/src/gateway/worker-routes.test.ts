import { ManualClock } from "@windlass/clock";
import { silentLogger } from "@windlass/runtime";
import { expect, test } from "vitest";
import { parseAllocationHash, writeRevocations } from "../tokens/index.ts";
import { BuildKitWorker, type Worker } from "../worker/worker.ts";
import { routeOf, takeRevocations, WorkerRoutes } from "./worker-routes.ts";

const hash = (digit: string) => {
  const found = parseAllocationHash(digit.repeat(64));
  if (!found) throw new Error("no hash");
  return found;
};
const [a, b] = [hash("a"), hash("b")];
const worker = (status: Worker["status"], tokenHash?: string): Worker =>
  BuildKitWorker.make(
    { namespace: "builds", name: "ci-worker-0" },
    {
      poolRef: { name: "ci" },
      ...(tokenHash !== undefined && {
        allocation: {
          jobId: "1",
          tokenHash,
          requestedBy: "someone",
          allocatedAt: "2026-11-16T10:00:00Z",
          expiresAt: "2026-11-16T11:00:00Z",
        },
      }),
    },
    status,
  );
const up = { podIP: "10.0.0.1", endpoint: "tcp://10.0.0.1:1234" };

test("connections lead to a worker while it serves, wait while it starts, and receive the reason when it has failed", () => {
  expect(routeOf(worker({ phase: "Provisioning" }))).toMatchObject({ at: "starting" });
  for (const phase of ["Idle", "Allocated", "Running", "Terminating"] as const)
    expect(routeOf(worker({ phase, ...up }))).toEqual({
      at: "ready",
      worker: {
        name: "ci-worker-0",
        host: "10.0.0.1",
        port: 1_234,
        serverName: "ci-worker-0.builds.worker.buildkit.internal",
      },
    });
  expect(routeOf(worker({ phase: "Failed", message: "buildkitd ended with exit code 137" }))).toMatchObject({
    at: "lost",
    reason: "buildkitd ended with exit code 137",
  });
  expect(routeOf(worker({ phase: "Terminating" }))).toMatchObject({ at: "lost" });
});

test("an allocation has a route from its claim to its release, and the next one has its own", () => {
  const routes = new WorkerRoutes(new ManualClock());
  const changed: string[] = [];
  routes.table.onChange((allocation) => changed.push(allocation[0] ?? ""));
  routes.update(worker({ phase: "Idle", ...up }));
  expect(routes.table.find(a)).toEqual({ at: "unknown" });
  routes.update(worker({ phase: "Idle", ...up }, a));
  expect(routes.table.find(a)).toMatchObject({ at: "ready" });
  routes.update(worker({ phase: "Running", ...up }, a));
  expect(changed).toEqual(["a"]);
  routes.update(worker({ phase: "Allocated", ...up }, b));
  expect(routes.table.find(a)).toEqual({ at: "unknown" });
  expect(routes.table.find(b)).toMatchObject({ at: "ready" });
  routes.update(worker({ phase: "Idle", ...up }));
  expect(routes.table.find(b)).toEqual({ at: "unknown" });
});

test("who has lost a worker receives the reason until the token has expired", async () => {
  const clock = new ManualClock(Date.parse("2026-11-16T10:30:00Z"));
  const routes = new WorkerRoutes(clock);
  routes.update(worker({ phase: "Running", ...up }, a));
  routes.remove(worker({ phase: "Running", ...up }, a));
  expect(routes.table.find(a)).toMatchObject({ at: "lost", worker: "ci-worker-0" });
  await clock.advance(3_600_000);
  routes.remove(worker({ phase: "Idle" }));
  expect(routes.table.find(a)).toEqual({ at: "unknown" });
});

test("an allocation that is on the list of revocations leads nowhere, and its gateway is called at once", () => {
  const { table } = new WorkerRoutes(new ManualClock());
  const changed: string[] = [];
  table.onChange((allocation) => changed.push(allocation));
  table.set(a, routeOf(worker({ phase: "Running", ...up }, a)));
  const list = writeRevocations(new Map([[a, { until: 1_000, reason: "released by boss" }]]));
  takeRevocations(table, list, silentLogger);
  expect(table.find(a)).toEqual({ at: "revoked", reason: "released by boss" });
  table.set(a, { at: "unknown" });
  expect(table.find(a)).toMatchObject({ at: "revoked" });
  takeRevocations(table, "not JSON", silentLogger);
  expect(table.find(a)).toMatchObject({ at: "revoked" });
  takeRevocations(table, undefined, silentLogger);
  expect(table.find(a)).toEqual({ at: "unknown" });
  expect(changed).toEqual([a, a, a]);
});
