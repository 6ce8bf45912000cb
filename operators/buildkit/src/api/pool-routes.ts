import { matchesSelector, requirementsOf } from "@windlass/client";
import type { Pool } from "../pool/index.ts";
import { isClaimable } from "../worker/index.ts";
import { poolNameOf } from "./pool-access.ts";
import { invalidField, notFound, Problem } from "./problem.ts";
import { type Route, route } from "./route.ts";
import type { Service } from "./service.ts";
import {
  legacyAllocateRequest,
  legacyAllocateResponse,
  listQuery,
  longestWaitMs,
  namespaceQuery,
  poolResponse,
  poolsResponse,
  wakeResponse,
} from "./shapes.ts";
import { commonAnswers } from "./worker-routes.ts";

/** Pools: list, look at, wake; and the original's older way to allocate. */
export function poolRoutes(service: Service): readonly Route[] {
  const { state, allocator } = service.options;

  const summaryOf = (pool: Pool) => {
    const name = poolNameOf(pool);
    return { ...name, ...service.endpointsOf(name), status: pool.status?.phase ?? "Pending" };
  };

  const list = route({
    method: "GET",
    path: "/api/v1/pools",
    summary: "The pools that the caller may look at",
    query: listQuery,
    answers: { 200: { description: "The pools", schema: poolsResponse }, ...commonAnswers },
    handle: async (call) => {
      const pools = state
        .pools()
        .filter(
          ({ metadata }) => call.query.namespace === undefined || metadata.namespace === call.query.namespace,
        )
        .filter((pool) => service.ifAdmitted(call, "view", pool) !== undefined)
        .map(summaryOf)
        .toSorted((a, b) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name));
      return { status: 200, body: { pools } };
    },
  });

  const get = route({
    method: "GET",
    path: "/api/v1/pools/{name}",
    summary: "One pool",
    query: namespaceQuery,
    answers: { 200: { description: "The pool", schema: poolResponse }, ...commonAnswers },
    handle: async (call) => {
      const wanted = { namespace: call.query.namespace, name: call.params.name ?? "" };
      const { pool, name } = service.admit(call, "view", wanted);
      const workers = state.workers(name);
      const phases: Record<string, number> = { total: workers.length };
      for (const { status } of workers) {
        const phase = (status?.phase ?? "Pending").toLowerCase();
        phases[phase] = (phases[phase] ?? 0) + 1;
      }
      const { tokenTTL, maxTokenTTL } = pool.spec.gateway;
      const { cacheOptions } = pool.status ?? {};
      return {
        status: 200,
        body: {
          ...summaryOf(pool),
          ready: workers.some(isClaimable),
          workers: phases,
          queue: { length: state.requests(name).length },
          defaultTTL: tokenTTL,
          maxTTL: maxTokenTTL,
          ...(cacheOptions === undefined ? {} : { cacheOptions }),
        },
      };
    },
  });

  const wake = route({
    method: "POST",
    path: "/api/v1/pools/{name}/wake",
    summary: "Have a worker started, if none is idle. Answers once one is ready",
    query: namespaceQuery,
    answers: { 200: { description: "Whether a worker is idle", schema: wakeResponse }, ...commonAnswers },
    handle: async (call) => {
      const wanted = { namespace: call.query.namespace, name: call.params.name ?? "" };
      const admitted = service.admit(call, "allocate", wanted);
      const { pool, name, identity, limits } = admitted;
      const reply = (ready: boolean) => ({
        status: 200,
        body: { endpoint: service.endpointsOf(name).endpoint, poolName: name.name, ready },
      });
      if (state.workers(name).some(isClaimable)) return reply(true);
      // A worker is started for the client that waits. It is released at once, and stays idle for
      // as long as the pool says.
      const outcome = await allocator.allocate({
        pool,
        owner: identity.id,
        ttlMs: service.ttlMs(admitted, undefined),
        concurrent: limits.concurrent,
        waitMs: longestWaitMs,
        signal: call.signal,
      });
      if (outcome.is === "waiting") return reply(false);
      await allocator.release(name, outcome.grant.issued.allocation);
      return reply(true);
    },
  });

  const legacyAllocate = route({
    method: "POST",
    path: "/api/v1/allocate",
    summary: "The original's older way to allocate a worker",
    body: legacyAllocateRequest,
    answers: { 200: { description: "A worker", schema: legacyAllocateResponse }, ...commonAnswers },
    handle: async (call) => {
      const { poolName, poolSelector, namespace, useExistingCerts, duration, jobId, metadata } = call.body;
      if (useExistingCerts)
        throw invalidField(
          "useExistingCerts",
          "certificates are made for each allocation, and none is read from a Secret",
        );
      const name = poolName ?? selectedPool(namespace, poolSelector?.labels);
      const admitted = service.admit(call, "allocate", { namespace, name });
      const outcome = await allocator.allocate({
        pool: admitted.pool,
        owner: admitted.identity.id,
        jobId,
        ttlMs: service.ttlMs(admitted, duration),
        metadata,
        concurrent: admitted.limits.concurrent,
        waitMs: longestWaitMs,
        signal: call.signal,
      });
      if (outcome.is === "waiting")
        throw new Problem(503, "QueueTimeout", "no worker was free within 5m", { retryAfterSeconds: 5 });
      const { workerName, token, gatewayEndpoint, caCert, clientCert, clientKey } = await service.present(
        outcome.grant,
        undefined,
      );
      const body = { endpoint: gatewayEndpoint, caCert, clientCert, clientKey, poolName: name, ready: true };
      return { status: 200, body: { ...body, workerName, allocationToken: token } };
    },
  });

  /** @throws Problem 404 if no pool has the labels. */
  function selectedPool(namespace: string, labels: Readonly<Record<string, string>> | undefined): string {
    if (!labels || Object.keys(labels).length === 0)
      throw new Problem(400, "InvalidRequest", "poolName: must be set, or poolSelector.labels", {
        details: { fields: [{ field: "poolName", message: "must be set, or poolSelector.labels" }] },
      });
    const [found] = state
      .pools()
      .filter(({ metadata }) => metadata.namespace === namespace)
      .filter(({ metadata }) => matchesSelector(requirementsOf({ matchLabels: labels }), metadata.labels))
      .map(({ metadata }) => metadata.name)
      .toSorted();
    if (found === undefined)
      throw notFound("PoolNotFound", `no pool in namespace ${namespace} has these labels`);
    return found;
  }

  return [list, get, wake, legacyAllocate];
}
