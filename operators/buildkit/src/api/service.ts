import { readSigningRequest } from "@windlass/certificates";
import type { Client } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import type { Allocator, Grant, PoolCredentials, PoolState } from "../allocation/index.ts";
import { AllocationError, operationId } from "../allocation/index.ts";
import { allocationCertificate, signAllocationCertificate } from "../certificates/index.ts";
import {
  type Admins,
  type AuditLog,
  countsFor,
  decide,
  type Identity,
  type Limits,
  type Verb,
} from "../identity/index.ts";
import { gatewayPort } from "../names.ts";
import { cacheOptions } from "../pool/cache-options.ts";
import type { Pool } from "../pool/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { spanMs } from "../span.ts";
import { verifyToken } from "../tokens/index.ts";
import type { Allocation, Worker } from "../worker/index.ts";
import type { ApiMetrics } from "./metrics.ts";
import { accessOf, poolNameOf } from "./pool-access.ts";
import { notFound, Problem } from "./problem.ts";
import type { Call } from "./route.ts";

/** What the API's routes are made of. */
export interface ServiceOptions {
  readonly client: Client;
  readonly state: PoolState;
  readonly allocator: Allocator;
  readonly credentials: PoolCredentials;
  readonly admins: Admins;
  readonly audit: AuditLog;
  readonly metrics: ApiMetrics;
  readonly clock: Clock;
}

type AnyCall = Pick<Call<unknown, unknown>, "caller" | "request">;

/** A caller that may do what it asked for with a pool. */
export interface Admitted {
  readonly pool: Pool;
  readonly name: PoolName;
  readonly identity: Identity;
  readonly limits: Limits;
}

/** An allocation that a caller may do something with. */
export interface OwnAllocation extends Admitted {
  readonly worker: Worker;
  readonly allocation: Allocation;
  /** Whether it is the caller's own, or one that an administrator deals with. */
  readonly by: "owner" | "administrator";
}

/** What routes have in common: who may, which pool, what a grant looks like. */
export class Service {
  readonly options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.options = options;
  }

  /**
   * @throws Problem 404 for a pool that does not exist, 403 for one that is not the caller's to
   *   use.
   */
  admit(call: AnyCall, verb: Verb, name: PoolName): Admitted {
    const pool = this.options.state.pool(name);
    if (!pool) throw notFound("PoolNotFound", `there is no pool ${poolText(name)}`);
    const admitted = this.ifAdmitted(call, verb, pool);
    if (admitted) return admitted;
    throw new Problem(403, "Forbidden", `you may not ${phrases[verb]} pool ${poolText(name)}`, {
      details: { verb, pool: poolText(name) },
    });
  }

  /** The same where a refusal is no error. */
  ifAdmitted(call: AnyCall, verb: Verb, pool: Pool): Admitted | undefined {
    const name = poolNameOf(pool);
    const decision = decide(call.caller.identities, verb, accessOf(pool), this.options.admins);
    this.options.audit.decided(call.request, verb, name, decision);
    if (decision.is === "denied") return undefined;
    return { pool, name, identity: decision.as, limits: decision.limits };
  }

  /** Whether a caller may deal with what others have allocated. */
  isAdministrator(call: AnyCall, pool: Pool): boolean {
    return decide(call.caller.identities, "admin", accessOf(pool), this.options.admins).is === "allowed";
  }

  /** The identity of a caller that an allocation of a pool belongs to; undefined if it has none. */
  ownerOf(call: AnyCall, pool: PoolName, owner: string): Identity | undefined {
    return call.caller.identities.find((one) => one.id === owner && countsFor(one, pool));
  }

  /**
   * The allocation of a token, for its owner or an administrator.
   *
   * @throws Problem 404 for a token of no allocation, 403 for another owner's.
   */
  async ownAllocation(call: AnyCall, token: string): Promise<OwnAllocation> {
    const found = await this.#verify(token);
    const worker = found ? await this.options.allocator.workerOf(found.name, found.allocation) : undefined;
    const allocation = worker?.spec.allocation;
    if (!found || !worker || !allocation)
      throw notFound("NotAllocated", "the token is not of an allocation that exists, or has expired");
    const { pool, name } = found;
    const own = this.ownerOf(call, name, allocation.requestedBy);
    if (own) {
      const why = `${own.user} has allocated it`;
      this.options.audit.decided(call.request, "allocate", name, { is: "allowed", as: own, why, limits: {} });
      return { pool, name, identity: own, limits: {}, worker, allocation, by: "owner" };
    }
    const admitted = this.admit(call, "admin", name);
    return { ...admitted, worker, allocation, by: "administrator" };
  }

  /** What is granted for a span that a client asks for, or for none. */
  ttlMs({ pool, limits }: Pick<Admitted, "pool" | "limits">, wanted: string | undefined): number {
    const { tokenTTL, maxTokenTTL } = pool.spec.gateway;
    const asked = spanMs(wanted ?? tokenTTL, "ttl");
    return Math.min(
      asked,
      spanMs(maxTokenTTL, "spec.gateway.maxTokenTTL"),
      limits.ttlMs ?? Number.POSITIVE_INFINITY,
    );
  }

  /**
   * What a client is given for a worker: a token, a certificate with it, and where to connect to.
   */
  async present({ pool: name, worker, allocation, issued }: Grant, csr: string | undefined) {
    const { credentials, metrics } = this.options;
    const authority = await credentials.clientAuthority();
    const trust = await credentials.serverTrust(name);
    const init = { pool: name, issued };
    const pair = csr
      ? { certificate: signAllocationCertificate(authority, readSigningRequest(csr), init) }
      : allocationCertificate(authority, init);
    metrics.certified("allocation");
    const endpoints = this.endpointsOf(name);
    const spec = this.options.state.pool(name)?.spec;
    const cache = spec && cacheOptions(spec, allocation.affinityKey);
    return {
      workerName: worker.metadata.name,
      token: issued.token,
      endpoint: worker.status?.endpoint ?? "",
      gatewayEndpoint: endpoints.endpoint,
      ...(endpoints.externalEndpoint === undefined
        ? {}
        : { externalGatewayEndpoint: endpoints.externalEndpoint }),
      expiresAt: new Date(issued.expiresAt).toISOString(),
      caCert: base64(trust),
      clientCert: base64(pair.certificate),
      ...("key" in pair ? { clientKey: base64(pair.key) } : {}),
      poolName: name.name,
      namespace: name.namespace,
      jobId: allocation.jobId,
      allocationId: operationId({ pool: name, owner: allocation.requestedBy, jobId: allocation.jobId }),
      ...(cache && cache.import.length > 0 ? { cacheOptions: cache } : {}),
    };
  }

  /** Where clients connect to. */
  endpointsOf(name: PoolName): { readonly endpoint: string; readonly externalEndpoint?: string } {
    const pool = this.options.state.pool(name);
    const port = pool?.spec.gateway.port ?? pool?.spec.networking.port ?? gatewayPort;
    const endpoint = pool?.status?.endpoint ?? `tcp://${name.name}.${name.namespace}.svc:${port}`;
    const externalEndpoint = pool?.status?.externalEndpoint;
    return externalEndpoint === undefined ? { endpoint } : { endpoint, externalEndpoint };
  }

  /**
   * A token does not say of which pool it is: it is the one whose keys have signed it.
   *
   * @throws AllocationError `CredentialsUnavailable` if it may be of a pool whose keys cannot be
   *   read.
   */
  async #verify(token: string) {
    const { state, credentials, clock } = this.options;
    let unknown: AllocationError | undefined;
    for (const pool of state.pools()) {
      const name = poolNameOf(pool);
      try {
        const verification = verifyToken(await credentials.keyring(name), token, clock.now());
        if (verification.is === "valid") return { pool, name, allocation: verification.allocation };
      } catch (error) {
        if (!(error instanceof AllocationError)) throw error;
        // A pool that was just made has no keys, and no allocations either.
        if (pool.status?.tokenKeysSecretName !== undefined) unknown ??= error;
      }
    }
    if (unknown) throw unknown;
    return undefined;
  }
}

const phrases: Readonly<Record<Verb, string>> = {
  allocate: "allocate workers of",
  certs: "have certificates for",
  view: "look at",
  admin: "administer",
};

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
