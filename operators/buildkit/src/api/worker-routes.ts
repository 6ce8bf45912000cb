import {
  AllocationError,
  type AllocationOutcome,
  type AllocationSpec,
  parseOperationId,
} from "../allocation/index.ts";
import type { PoolName } from "../pool-name.ts";
import { spanMs } from "../span.ts";
import { allocateAll, poolFor } from "./platforms.ts";
import { invalidField, notFound, type Problem } from "./problem.ts";
import { revoke } from "./revoke.ts";
import { type Answer, type Reply, type Route, route } from "./route.ts";
import type { Admitted, Service } from "./service.ts";
import {
  allocateRequest,
  allocateResponse,
  jobRequest,
  longestWaitMs,
  lookupResponse,
  operationQuery,
  problemResponse,
  releaseResponse,
  renewRequest,
  tokenRequest,
  waitingResponse,
} from "./shapes.ts";

const problem = (description: string): Answer => ({ description, schema: problemResponse });

/** What every route for authenticated callers may answer. */
export const commonAnswers: Readonly<Record<number, Answer>> = {
  400: problem("The request has the wrong form"),
  401: problem("There are no credentials, or none that are accepted"),
  403: problem("The caller may not do that"),
  404: problem("There is no such pool, allocation or operation"),
  422: problem("A field is invalid, or asks for what cannot be granted"),
  429: problem("Too many: Retry-After says when to try again"),
  503: problem("Not possible at present: Retry-After says when to try again"),
};

const conflicts: Readonly<Record<number, Answer>> = {
  409: problem("Not in the state that the pool or allocation is in"),
};

/** Workers: allocate, look up, renew, release; and the operations of those who wait. */
export function workerRoutes(service: Service): readonly Route[] {
  const { allocator, state } = service.options;

  /** The answer for a client that has a worker, or waits for one. */
  const replyTo = async (
    outcome: AllocationOutcome,
    csr: string | undefined,
    isAnonymous: boolean,
  ): Promise<Reply> => {
    if (outcome.is === "granted") {
      const { grant } = outcome;
      // A client that has not named its job cannot ask for what it did not get.
      const undo = isAnonymous ? () => allocator.release(grant.pool, grant.issued.allocation) : undefined;
      return { status: 200, body: await service.present(grant, csr), ...(undo ? { undo } : {}) };
    }
    const { id, state: at, position, estimatedWaitMs } = outcome.operation;
    return {
      status: 202,
      headers: { location: `/api/v1/allocations/${id}`, "retry-after": "1" },
      body: {
        allocationId: id,
        state: at,
        position,
        ...(estimatedWaitMs === undefined
          ? {}
          : { estimatedWaitSeconds: Math.ceil(estimatedWaitMs / 1_000) }),
      },
    };
  };

  const allocate = route({
    method: "POST",
    path: "/api/v1/workers/allocate",
    summary: "Allocate a worker: a token, a certificate that carries it, and where to connect to",
    body: allocateRequest,
    answers: {
      200: { description: "A worker", schema: allocateResponse },
      202: {
        description: "None yet: ask again, by the operation or by the same jobId",
        schema: waitingResponse,
      },
      ...commonAnswers,
      ...conflicts,
    },
    handle: async (call) => {
      const { poolName, namespace, jobId, ttl, metadata, wait, affinityKey, priority = 0, csr } = call.body;
      const admitted = service.admit(call, "allocate", { namespace, name: poolName });
      const specFor = (own: Admitted): AllocationSpec => {
        const { pool, identity, limits } = own;
        if (priority > 0 && !service.isAdministrator(call, pool))
          throw invalidField("priority", "only administrators of the pool may ask for more than 0");
        return {
          pool,
          owner: identity.id,
          jobId,
          ttlMs: service.ttlMs(own, ttl),
          metadata,
          affinityKey,
          priority,
          concurrent: limits.concurrent,
          waitMs: wait === undefined ? longestWaitMs : spanMs(wait, "wait"),
          signal: call.signal,
        };
      };
      const refuseLate = (outcome: AllocationOutcome) => {
        if (outcome.is === "waiting" && wait === undefined)
          throw new AllocationError("QueueTimeout", "no worker was free within 5m", { retryAfterSeconds: 5 });
      };
      if (call.body.platforms === undefined) {
        const outcome = await allocator.allocate(specFor(admitted));
        refuseLate(outcome);
        return await replyTo(outcome, csr, jobId === undefined);
      }
      const specs = call.body.platforms.map((platform) => {
        const own = service.admit(call, "allocate", poolFor(admitted.pool, platform, state));
        return { platform, spec: specFor(own) };
      });
      const all = await allocateAll(allocator, specs, service.options.clock);
      if (all.is === "waiting") {
        refuseLate(all);
        return await replyTo(all, undefined, false);
      }
      const nodes = await Promise.all(
        all.nodes.map(async ({ platform, grant }) => ({ platform, ...(await service.present(grant, csr)) })),
      );
      const [{ platform: _, ...first } = {}] = nodes;
      const undo = jobId === undefined ? { undo: all.giveBack } : {};
      return { status: 200, body: { ...first, nodes }, ...undo };
    },
  });

  /** The request or the worker of an operation, for its owner or an administrator. */
  const operationOf = async (call: Parameters<Service["admit"]>[0], id: string) => {
    const parsed = parseOperationId(id);
    const pool = parsed ? state.pool(parsed.pool) : undefined;
    if (!parsed || !pool) throw noOperation();
    const name: PoolName = parsed.pool;
    const { request, worker } = await allocator.findJob(name, parsed.hash);
    const owner = request?.spec.requestedBy ?? worker?.spec.allocation?.requestedBy;
    if (owner === undefined) throw noOperation();
    const identity = service.ownerOf(call, name, owner);
    // Whether another owner's operation exists is not disclosed.
    if (!identity && !service.isAdministrator(call, pool)) throw noOperation();
    const admitted: Admitted = service.admit(call, identity ? "allocate" : "admin", name);
    return { admitted, name, request, worker };
  };

  const operation = route({
    method: "GET",
    path: "/api/v1/allocations/{id}",
    summary: "Ask for an allocation again that was answered with 202",
    query: operationQuery,
    answers: {
      200: { description: "A worker", schema: allocateResponse },
      202: { description: "None yet", schema: waitingResponse },
      ...commonAnswers,
      ...conflicts,
    },
    handle: async (call) => {
      const { admitted, name, request, worker } = await operationOf(call, call.params.id ?? "");
      const { wait = "0s" } = call.query;
      if (worker)
        return await replyTo(
          { is: "granted", grant: await allocator.grantOf(name, worker), isNew: false },
          undefined,
          false,
        );
      if (!request) throw noOperation();
      const { pool, limits } = admitted;
      const outcome = await allocator.resume(
        {
          pool,
          concurrent: limits.concurrent,
          ttlMs: service.ttlMs(admitted, request.spec.ttl),
          waitMs: spanMs(wait, "wait"),
          signal: call.signal,
        },
        request,
      );
      return await replyTo(outcome, undefined, false);
    },
  });

  const cancel = route({
    method: "DELETE",
    path: "/api/v1/allocations/{id}",
    summary: "Stop waiting for an allocation, or release it",
    answers: { 200: { description: "It is gone", schema: releaseResponse }, ...commonAnswers, ...conflicts },
    handle: async (call) => {
      const { name, request, worker } = await operationOf(call, call.params.id ?? "");
      if (request) await allocator.cancel(request);
      const hash = worker?.spec.allocation?.tokenHash;
      if (hash !== undefined) await allocator.release(name, hash);
      return { status: 200, body: { status: "released" } };
    },
  });

  const lookup = route({
    method: "POST",
    path: "/api/v1/workers/lookup",
    summary: "Say which worker a token is for",
    body: tokenRequest,
    answers: { 200: { description: "The worker", schema: lookupResponse }, ...commonAnswers },
    handle: async (call) => {
      const { worker, allocation, name } = await service.ownAllocation(call, call.body.token);
      return {
        status: 200,
        body: {
          workerEndpoint: worker.status?.endpoint ?? "",
          workerName: worker.metadata.name,
          poolName: name.name,
          namespace: name.namespace,
          expiresAt: new Date(allocation.expiresAt).toISOString(),
        },
      };
    },
  });

  const renew = route({
    method: "POST",
    path: "/api/v1/workers/renew",
    summary: "Have an allocation last longer: a new token and certificate for the same worker",
    body: renewRequest,
    answers: { 200: { description: "The worker", schema: allocateResponse }, ...commonAnswers, ...conflicts },
    handle: async (call) => {
      const own = await service.ownAllocation(call, call.body.token);
      // Who may no longer allocate may not hold on to a worker either.
      const admitted = own.by === "owner" ? service.admit(call, "allocate", own.name) : own;
      const ttlMs = service.ttlMs(admitted, call.body.ttl);
      const mostMs = service.ttlMs(admitted, "24h");
      const grant = await allocator.renew(own.name, own.allocation.tokenHash, ttlMs, mostMs);
      return { status: 200, body: await service.present(grant, call.body.csr) };
    },
  });

  const release = route({
    method: "POST",
    path: "/api/v1/workers/release",
    summary: "Give a worker back. Its connections are closed",
    body: tokenRequest,
    answers: { 200: { description: "It is released", schema: releaseResponse }, ...commonAnswers },
    handle: async (call) => {
      const { pool, name, allocation, by, identity } = await service.ownAllocation(call, call.body.token);
      const hash = allocation.tokenHash;
      if (by === "administrator")
        await revoke(service.options, pool, hash, allocation, `released by ${identity.user}`);
      await allocator.release(name, hash);
      return { status: 200, body: { status: "released" } };
    },
  });

  const end = route({
    method: "POST",
    path: "/api/v1/jobs/release",
    summary:
      "End a job of the caller, for a client that left before it was answered: it no longer waits, and its workers are given back",
    body: jobRequest,
    answers: {
      200: { description: "Nothing of it is left", schema: releaseResponse },
      ...commonAnswers,
      ...conflicts,
    },
    handle: async (call) => {
      const { poolName, namespace, jobId, platforms } = call.body;
      const { pool, name } = service.admit(call, "allocate", { namespace, name: poolName });
      const pools = platforms?.map((platform) => poolFor(pool, platform, state)) ?? [name];
      const ended = await Promise.all(
        pools.flatMap((one) =>
          call.caller.identities
            .filter(({ id }) => service.ownerOf(call, one, id))
            .map(({ id }) => allocator.end({ pool: one, owner: id, jobId })),
        ),
      );
      if (!ended.includes(true)) throw notFound("JobNotFound", `you have no job ${jobId} there`);
      return { status: 200, body: { status: "released" } };
    },
  });

  return [allocate, operation, cancel, lookup, renew, release, end];
}

function noOperation(): Problem {
  return notFound("OperationNotFound", "there is no such operation, or no longer: allocate again");
}
