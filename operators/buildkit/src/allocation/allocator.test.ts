import { createHmac, hash } from "node:crypto";
import { existing } from "@windlass/runtime/testing";
import { afterAll, describe, expect, test } from "vitest";
import type { Pool } from "../pool/index.ts";
import { poolText } from "../pool-name.ts";
import { BuildKitRequest } from "../request/request.ts";
import { signingKey, verifyToken } from "../tokens/index.ts";
import { BuildKitWorker, claimed, isHeld, isServing, type Worker } from "../worker/index.ts";
import type { AllocationOutcome, AllocationSpec, Grant } from "./allocator.ts";
import { newAllocation } from "./claim-token.ts";
import { AllocationError } from "./errors.ts";
import { jobHash } from "./job.ts";
import { PoolCredentials } from "./pool-credentials.ts";
import { PoolTestEnvironment, type Replica, systemNamespace } from "./pool-environment.fixture.ts";

const environment = await PoolTestEnvironment.start();
const [one, two] = [await environment.replica(), await environment.replica()];
afterAll(() => environment[Symbol.asyncDispose]());

const credentials = new PoolCredentials({ client: environment.cluster.client, namespace: systemNamespace });
const hour = 3_600_000;
let pools = 0;
const newPool = (spec: object = {}) => environment.pool(`p${++pools}`, spec);

function ask(replica: Replica, pool: Pool, change: Partial<AllocationSpec> = {}): Promise<AllocationOutcome> {
  const signal = new AbortController().signal;
  return replica.allocator.allocate({ pool, owner: "anna", ttlMs: hour, waitMs: 10_000, signal, ...change });
}

async function granted(outcome: Promise<AllocationOutcome>): Promise<Grant> {
  const found = await outcome;
  if (found.is !== "granted") throw new Error(`waiting: ${JSON.stringify(found.operation)}`);
  return found.grant;
}

function phaseOf(workers: readonly Worker[], { worker }: Pick<Grant, "worker">) {
  return workers.find(({ metadata }) => metadata.name === worker.metadata.name)?.status?.phase;
}

/** Waits until both replicas know a pool, and its workers. */
async function known(pool: Pool, idle = 0): Promise<void> {
  const name = { namespace: environment.namespace, name: pool.metadata.name };
  for (const { state } of [one, two])
    await expect
      .poll(
        () => state.pool(name) && state.workers(name).filter(({ status }) => status?.phase === "Idle").length,
      )
      .toBe(idle);
}

describe("a worker", () => {
  test("is made for the first request, and is that client's until it is released", async () => {
    const pool = await newPool({ scaling: { max: 1 } });
    await known(pool);
    const { worker, issued, pool: name } = await granted(ask(one, pool));
    const ring = await credentials.keyring(name);
    expect(verifyToken(ring, issued.token, Date.now())).toMatchObject({
      is: "valid",
      allocation: issued.allocation,
    });
    expect(worker.spec.allocation).toMatchObject({ requestedBy: "anna", tokenHash: issued.allocation });
    expect(JSON.stringify(worker)).not.toContain(issued.token);
    const waiting = await ask(two, pool, { owner: "bert", jobId: "b", waitMs: 0 });
    expect(waiting).toMatchObject({ is: "waiting", operation: { state: "Queued", position: 0 } });
    await one.allocator.release(name, issued.allocation);
    expect((await granted(ask(one, pool, { owner: "bert", jobId: "b" }))).worker.metadata.name).toBe(
      worker.metadata.name,
    );
    await expect(one.allocator.release(name, issued.allocation)).rejects.toThrow(AllocationError);
  });

  test("of a warm pool is given at once, without a request", async () => {
    const pool = await newPool({ scaling: { min: 2, max: 2 } });
    await known(pool, 2);
    const first = await granted(ask(one, pool, { waitMs: 0 }));
    const second = await granted(ask(two, pool, { waitMs: 0 }));
    expect(second.worker.metadata.name).not.toBe(first.worker.metadata.name);
    const { items } = await environment.cluster.client.list(BuildKitRequest, {
      namespace: environment.namespace,
    });
    expect(items.filter(({ spec }) => spec.poolRef.name === pool.metadata.name)).toEqual([]);
  });

  test("and its token are the same for a job that is asked for again, on whichever replica", async () => {
    const pool = await newPool({ scaling: { min: 3, max: 3 } });
    await known(pool, 3);
    const job = { jobId: "build-7" };
    // They would each choose another worker.
    const answers = await Promise.all(
      [one, two, one, two, two].map((replica, index) =>
        granted(ask(replica, pool, { ...job, affinityKey: `project-${index}` })),
      ),
    );
    expect(new Set(answers.map(({ issued }) => issued.token)).size).toBe(1);
    expect(new Set(answers.map(({ worker }) => worker.metadata.name)).size).toBe(1);
    const other = await granted(ask(one, pool, { ...job, owner: "bert" }));
    expect(other.worker.metadata.name).not.toBe(answers[0]?.worker.metadata.name);
  });

  test("is given back by a client that has gone before it was answered", async () => {
    const pool = await newPool({ scaling: { min: 1, max: 1 } });
    await known(pool, 1);
    const client = new AbortController();
    using _ = environment.cluster.controlPlane?.faults.add({
      verbs: ["update"],
      resources: ["buildkitworkers"],
      delay: 50,
      times: 1,
    });
    const asked = ask(one, pool, { signal: client.signal });
    setTimeout(() => client.abort(new Error("gone")), 10);
    await expect(asked).rejects.toThrow("gone");
    await known(pool, 1);
  });

  test("outlives a conflict with the controller", async () => {
    const pool = await newPool({ scaling: { min: 1, max: 1 } });
    await known(pool, 1);
    using _ = environment.cluster.controlPlane?.faults.add({
      verbs: ["update"],
      resources: ["buildkitworkers"],
      times: 3,
      conflict: true,
    });
    await expect(granted(ask(one, pool))).resolves.toBeDefined();
  });
});

describe("the queue", () => {
  test("has owners take turns: one with nine requests keeps another waiting for one of them", async () => {
    const pool = await newPool({ scaling: { max: 1 } });
    await known(pool);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const first = await granted(ask(one, pool));
    const order: string[] = [];
    const serve = async (replica: Replica, owner: string) => {
      const { issued } = await granted(ask(replica, pool, { owner, waitMs: 20_000 }));
      order.push(owner);
      await replica.allocator.release(name, issued.allocation);
    };
    const all: Promise<void>[] = [];
    for (const owner of [...Array<string>(8).fill("anna"), "bert"]) {
      all.push(serve(all.length % 2 === 0 ? one : two, owner));
      await expect.poll(() => two.state.requests(name).length).toBe(all.length);
    }
    await expect.poll(() => environment.workers().then((found) => phaseOf(found, first))).toBe("Allocated");
    await one.allocator.release(name, first.issued.allocation);
    await Promise.all(all);
    expect(order).toEqual(["bert", ...Array<string>(8).fill("anna")]);
  });

  test("is bounded", async () => {
    const pool = await newPool({ scaling: { mode: "auto", max: 1 }, queue: { maxLength: 1 } });
    await known(pool);
    await granted(ask(one, pool));
    await ask(one, pool, { waitMs: 0 });
    await expect(ask(one, pool, { waitMs: 0 })).rejects.toMatchObject({
      code: "QueueFull",
      retryAfterSeconds: 10,
    });
  });

  test("gives up after the pool's longest wait, and leaves nothing behind", async () => {
    const pool = await newPool({ scaling: { max: 1 }, queue: { maxWait: "300ms" } });
    await known(pool);
    await granted(ask(one, pool));
    const first = await ask(one, pool, { waitMs: 0, jobId: "late" });
    expect(first.is).toBe("waiting");
    await new Promise((resolve) => setTimeout(resolve, 320));
    await expect(ask(two, pool, { waitMs: 0, jobId: "late" })).rejects.toMatchObject({
      code: "QueueTimeout",
    });
    const { items } = await environment.cluster.client.list(BuildKitRequest, {
      namespace: environment.namespace,
    });
    expect(items.filter(({ spec }) => spec.poolRef.name === pool.metadata.name)).toEqual([]);
  });

  test("forgets a client that has gone and cannot ask again", async () => {
    const pool = await newPool({ scaling: { max: 1 } });
    await known(pool);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    await granted(ask(one, pool));
    const client = new AbortController();
    const asked = ask(one, pool, { signal: client.signal });
    await expect.poll(() => one.state.requests(name).length).toBe(1);
    client.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    const { items } = await environment.cluster.client.list(BuildKitRequest, {
      namespace: environment.namespace,
    });
    expect(items.filter(({ spec }) => spec.poolRef.name === name.name)).toEqual([]);
  });

  test("skips requests that no replica renews: their client has gone, or their replica was killed", async () => {
    const pool = await newPool({ scaling: { max: 1 } });
    await known(pool);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const first = await granted(ask(one, pool));
    for (const jobId of ["gone-1", "gone-2"])
      expect((await ask(one, pool, { owner: "bert", jobId, waitMs: 0 })).is).toBe("waiting");
    await expect.poll(() => two.state.requests(name).length).toBe(2);
    const waiting = granted(ask(two, pool, { owner: "carl", jobId: "here", waitMs: 20_000 }));
    await expect.poll(() => one.state.requests(name).length).toBe(3);
    const releasedAt = performance.now();
    await one.allocator.release(name, first.issued.allocation);
    expect((await waiting).allocation.jobId).toBe("here");
    // Each of them has three seconds; without, the worker would stand idle until their requests
    // have ended.
    expect(performance.now() - releasedAt).toBeLessThan(15_000);
    // Who comes back is served all the same.
    await two.allocator.release(name, (await waiting).issued.allocation);
    expect((await granted(ask(one, pool, { owner: "bert", jobId: "gone-1" }))).allocation.jobId).toBe(
      "gone-1",
    );
  }, 30_000);

  test("wakes the callers that can go on, and no others", async () => {
    const pool = await newPool({ scaling: { max: 2 } });
    await known(pool);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const held = [await granted(ask(one, pool)), await granted(ask(one, pool))];
    const order: number[] = [];
    const all = Array.from({ length: 60 }, async (_, index) => {
      const { issued } = await granted(ask(one, pool, { waitMs: 30_000, jobId: `job-${index}` }));
      order.push(index);
      await one.allocator.release(name, issued.allocation);
    });
    await expect.poll(() => one.state.requests(name).length, { timeout: 10_000 }).toBe(60);
    let lookups = 0;
    const { request } = one.state;
    one.state.request = (key) => {
      lookups += 1;
      return request.call(one.state, key);
    };
    for (const { issued } of held) await one.allocator.release(name, issued.allocation);
    await Promise.all(all);
    one.state.request = request;
    expect(order).toHaveLength(60);
    // Were each to look for itself at each change, it would be one for each pair of them and more.
    expect(lookups).toBeLessThan(4_000);
  }, 30_000);

  test("goes on for an operation on another replica", async () => {
    const pool = await newPool({ scaling: { max: 1 } });
    await known(pool);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const { issued } = await granted(ask(one, pool));
    const outcome = await ask(one, pool, { owner: "bert", waitMs: 0, metadata: { ref: "main" } });
    expect(outcome.is).toBe("waiting");
    await expect.poll(() => two.state.requests(name).length).toBe(1);
    const [request] = two.state.requests(name);
    if (!request) throw new Error("there is a request");
    const signal = new AbortController().signal;
    const resumed = granted(two.allocator.resume({ pool, ttlMs: hour, waitMs: 10_000, signal }, request));
    await one.allocator.release(name, issued.allocation);
    expect((await resumed).allocation).toMatchObject({ requestedBy: "bert", metadata: { ref: "main" } });
  });
});

describe("an owner with a limit", () => {
  test("never has more, whichever replicas it asks at once", async () => {
    const pool = await newPool({ scaling: { min: 6, max: 6 } });
    await known(pool, 6);
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) =>
        granted(ask(index % 2 === 0 ? one : two, pool, { concurrent: 2 })),
      ),
    );
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    for (const reason of refused) expect(reason).toMatchObject({ code: "QuotaExceeded" });
    await expect(granted(ask(one, pool, { owner: "bert", concurrent: 2 }))).resolves.toBeDefined();
  });
});

describe("a project", () => {
  test("lands on the worker that has its cache", async () => {
    const pool = await newPool({ scaling: { min: 4, max: 4 } });
    await known(pool, 4);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const landings = new Map<string, Set<string>>();
    for (let round = 0; round < 3; round++)
      for (const affinityKey of ["shop", "site", "docs"]) {
        await known(pool, 4);
        const { worker, issued } = await granted(ask(round % 2 === 0 ? one : two, pool, { affinityKey }));
        landings.set(affinityKey, (landings.get(affinityKey) ?? new Set()).add(worker.metadata.name));
        await expect
          .poll(() => environment.workers().then((found) => phaseOf(found, { worker })))
          .toBe("Allocated");
        await one.allocator.release(name, issued.allocation);
      }
    expect([...landings.values()].map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set([...landings.values()].flatMap((set) => [...set])).size).toBe(3);
  });

  test("waits for it for a moment, then takes another", async () => {
    const pool = await newPool({ scaling: { min: 2, max: 2 }, queue: { affinityWait: "300ms" } });
    await known(pool, 2);
    const first = await granted(ask(one, pool, { affinityKey: "shop" }));
    const startedAt = performance.now();
    const second = await granted(ask(one, pool, { affinityKey: "shop" }));
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    expect(second.worker.metadata.name).not.toBe(first.worker.metadata.name);
  });
});

describe("an allocation", () => {
  test("is renewed with a later token, up to what the pool allows", async () => {
    const pool = await newPool({ scaling: { max: 1 } });
    await known(pool);
    const { pool: name, issued, allocation } = await granted(ask(one, pool, { ttlMs: 60_000 }));
    const renewed = await two.allocator.renew(name, issued.allocation, hour, 2 * hour);
    expect(renewed.issued.allocation).toBe(issued.allocation);
    expect(renewed.issued.token).not.toBe(issued.token);
    expect(renewed.issued.expiresAt).toBeGreaterThan(issued.expiresAt + hour / 2);
    const last = await one.allocator.renew(name, issued.allocation, 10 * hour, 2 * hour);
    expect(last.issued.expiresAt).toBeLessThanOrEqual(Date.parse(allocation.allocatedAt) + 2 * hour);
    await expect(one.allocator.renew(name, issued.allocation, 10 * hour, 2 * hour)).rejects.toMatchObject({
      code: "LifetimeExceeded",
    });
    expect((await one.allocator.renew(name, issued.allocation, 1_000, 2 * hour)).issued.token).toBe(
      last.issued.token,
    );
  });

  test("is never taken from a client for the sake of one that a killed replica claimed for the same job", async () => {
    const pool = await newPool({ scaling: { min: 2, max: 2 } });
    await known(pool, 2);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const job = { pool: name, owner: "anna", jobId: "twice" };
    const ring = await credentials.keyring(name);
    const claim = async (worker: Worker | undefined, agoMs: number) => {
      if (!worker) throw new Error("there is no such worker");
      const init = { job, worker: worker.metadata.name, now: Date.now() - agoMs, ttlMs: hour };
      const allocation = newAllocation(ring, init);
      await environment.cluster.client.update(BuildKitWorker, claimed(worker, allocation));
      return allocation.tokenHash;
    };
    const [first, second] = one.state.workers(name);
    const answered = await claim(first, 30_000);
    // Claimed later, by a replica whose clock is behind.
    const other = await claim(second, 60_000);
    for (const { state } of [one, two]) await expect.poll(() => state.workerOf(other)).toBeDefined();
    await granted(ask(two, pool, { jobId: "twice" }));
    const held = async () =>
      (await environment.workers()).flatMap(({ spec }) => spec.allocation?.tokenHash ?? []);
    expect(await held()).toEqual(expect.arrayContaining([answered, other]));
    await two.allocator.release(name, answered);
    for (const hash of [answered, other]) expect(await held()).not.toContain(hash);
  });

  test("that was made before claims had ids of their own is found and renewed", async () => {
    const pool = await newPool({ scaling: { min: 1, max: 1 } });
    await known(pool, 1);
    const name = { namespace: environment.namespace, name: pool.metadata.name };
    const [worker] = one.state.workers(name);
    const key = signingKey(await credentials.keyring(name), Date.now());
    if (!worker || !key) throw new Error("there is no worker, or no key");
    const allocatedAt = new Date().toISOString();
    const parts = ["allocation id", name.namespace, name.name, "anna", "old", allocatedAt];
    const id = createHmac("sha256", key.secret).update(JSON.stringify(parts)).digest().subarray(0, 16);
    const tokenHash = hash("sha256", id, "hex");
    const expiresAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 60_000).toISOString();
    const allocation = { jobId: "old", requestedBy: "anna", tokenHash, allocatedAt, expiresAt };
    await environment.cluster.client.update(BuildKitWorker, claimed(worker, allocation));
    await expect.poll(() => two.state.workerOf(tokenHash)).toBeDefined();
    expect((await granted(ask(two, pool, { jobId: "old" }))).issued.allocation).toBe(tokenHash);
    const renewed = await two.allocator.renew(name, tokenHash, hour, 2 * hour);
    expect(renewed.issued.allocation).toBe(tokenHash);
    expect(renewed.issued.expiresAt).toBeGreaterThan(Date.parse(expiresAt));
  });

  test("whose worker has failed does not count: its job gets another worker, also within its limit", async () => {
    const pool = await newPool({ scaling: { max: 3 } });
    await known(pool);
    environment.controller.failedMs = hour;
    const mine = { jobId: "crashed", concurrent: 1 };
    const { pool: name, worker, issued } = await granted(ask(one, pool, mine));
    await expect.poll(() => two.state.workerOf(issued.allocation)).toBeDefined();
    await environment.controller.fail(worker);
    for (const replica of [two, one]) {
      const again = await granted(ask(replica, pool, mine));
      expect(again.worker.metadata.name).not.toBe(worker.metadata.name);
    }
    // Its claim stays, so that the gateway can report why connections with it fail.
    const found = (await environment.workers()).find(
      ({ metadata }) => metadata.name === worker.metadata.name,
    );
    expect(found?.spec.allocation?.tokenHash).toBe(issued.allocation);
    await expect(two.allocator.renew(name, issued.allocation, hour, hour)).rejects.toMatchObject({
      code: "WorkerLost",
      message: expect.stringContaining("the pod has ended"),
    });
    await expect(ask(one, pool, { jobId: "another", concurrent: 1 })).rejects.toMatchObject({
      code: "QuotaExceeded",
    });
    // Given back with the job, so that nothing of it is left.
    const { worker: present } = await one.allocator.findJob(
      name,
      jobHash({ pool: name, owner: "anna", jobId: "crashed" }),
    );
    await one.allocator.release(name, present?.spec.allocation?.tokenHash ?? "");
    expect((await environment.workers()).flatMap(({ spec }) => spec.allocation ?? [])).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ jobId: "crashed" })]),
    );
  });

  test.for([
    ["is to be deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }, {}],
    ["is drained", {}, { drainingSince: "2026-01-01T00:00:00Z" }],
  ] as const)("whose worker %s is not given to its job once more", ([, metadata, status]) => {
    const allocation = {
      jobId: "a",
      requestedBy: "anna",
      tokenHash: "x",
      allocatedAt: "2026-01-01T00:00:00Z",
      expiresAt: "2026-01-02T00:00:00Z",
    };
    const worker = existing(BuildKitWorker, {
      metadata: { namespace: "builds", name: "w", ...metadata },
      spec: { poolRef: { name: "ci" }, slot: 0, allocation },
      status: { phase: "Running", activeBuilds: 1, ...status },
    }).object;
    expect(isServing(worker)).toBe(false);
    // It still builds for its owner, who has no right to one more at that time.
    expect(isHeld(worker)).toBe(true);
    expect(isHeld({ ...worker, status: { ...worker.status, activeBuilds: 0 } })).toBe(false);
  });

  test("that has ended counts no more, and its job may have another", async () => {
    const pool = await newPool({ scaling: { max: 2 } });
    await known(pool);
    const { pool: name, issued } = await granted(ask(one, pool, { ttlMs: 1_000, jobId: "short" }));
    await expect
      .poll(
        async () =>
          (await environment.workers()).some(({ spec }) => spec.allocation?.tokenHash === issued.allocation),
        { timeout: 4_000 },
      )
      .toBe(false);
    await expect(one.allocator.renew(name, issued.allocation, hour, hour)).rejects.toMatchObject({
      code: "NotAllocated",
    });
    const again = await granted(ask(two, pool, { jobId: "short" }));
    expect(again.issued.allocation).not.toBe(issued.allocation);
    expect(poolText(again.pool)).toBe(poolText(name));
  });
});
