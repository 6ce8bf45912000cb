import { hash } from "node:crypto";
import type { PoolName } from "../pool-name.ts";

/**
 * What a client wants a worker for. The same job of the same owner in the same pool has one
 * allocation at a time.
 */
export interface Job {
  readonly pool: PoolName;
  /** The id of the identity that asks. */
  readonly owner: string;
  readonly jobId: string;
}

/** Stands for a job where its parts may not be shown, or do not fit. */
export function jobHash({ pool, owner, jobId }: Job): string {
  const parts = JSON.stringify([pool.namespace, pool.name, owner, jobId]);
  return hash("sha256", parts, "hex").slice(0, 32);
}

/** What a client asks for a job that waits by. */
export function operationId(job: Job): string {
  return `${job.pool.namespace}.${job.pool.name}.${jobHash(job)}`;
}

/**
 * The pool and the job that an operation is about; undefined for text that is no operation's id.
 */
export function parseOperationId(
  text: string,
): { readonly pool: PoolName; readonly hash: string } | undefined {
  const [, namespace, name, hash] = /^([a-z0-9-]{1,63})\.([a-z0-9-]{1,63})\.([0-9a-f]{32})$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined || hash === undefined) return undefined;
  return { pool: { namespace, name }, hash };
}

/** The name of the request of a job. No two requests of one job can exist. */
export function requestName(pool: PoolName, hash: string): string {
  return `${pool.name}-${hash}`;
}
