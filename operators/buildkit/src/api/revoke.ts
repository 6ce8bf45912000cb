import { type Client, isAlreadyExists, isConflict, isNotFound } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { controllerReference } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { AllocationError } from "../allocation/index.ts";
import { poolNames } from "../names.ts";
import { BuildKitPool, type Pool } from "../pool/index.ts";
import {
  parseAllocationHash,
  readRevocations,
  revocationsDataKey,
  revoked,
  unexpired,
  writeRevocations,
} from "../tokens/index.ts";
import type { Allocation } from "../worker/index.ts";

const MOST_CONFLICTS = 20;
const LONGEST_REASON = 200;

/**
 * Puts an allocation on its pool's list of those that were taken back, with a reason that its
 * client is shown. A client that releases its own needs none: its token leads nowhere once its
 * worker is released.
 */
export async function revoke(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  pool: Pool,
  tokenHash: string,
  { expiresAt }: Pick<Allocation, "expiresAt">,
  reason: string,
): Promise<void> {
  const hash = parseAllocationHash(tokenHash);
  if (hash === undefined) throw new TypeError("not an allocation's hash");
  const { namespace, name } = pool.metadata;
  const key = { namespace, name: poolNames(name).revocations };
  // It goes with its pool. The pool's controller does not make it, and must not take it for one of
  // its own that is not wanted.
  const { controller: _, ...owner } = controllerReference(BuildKitPool, pool);
  const entry = { until: Date.parse(expiresAt), reason: reason.slice(0, LONGEST_REASON) };
  const withEntry = (text: string | undefined) =>
    writeRevocations(revoked(unexpired(readRevocations(text ?? "{}"), clock.now()), hash, entry));
  for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
    try {
      const found = await client.get(ConfigMap, key);
      const data = { ...found.data, [revocationsDataKey]: withEntry(found.data?.[revocationsDataKey]) };
      await client.update(ConfigMap, { ...found, data });
      return;
    } catch (error) {
      if (isConflict(error)) continue;
      if (!isNotFound(error)) throw error;
    }
    try {
      const metadata = { ...key, ownerReferences: [{ ...owner, blockOwnerDeletion: false }] };
      await client.create(ConfigMap, { metadata, data: { [revocationsDataKey]: withEntry(undefined) } });
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  throw new AllocationError("Contended", "the list of revocations is being changed by others", {
    retryAfterSeconds: 1,
  });
}
