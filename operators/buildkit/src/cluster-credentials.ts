import { sleep } from "@windlass/clock";
import type { RoleContribution, Runnable } from "@windlass/runtime";
import type { CredentialStore } from "./credentials.ts";

const LOOK_MS = 3_600_000;
const RETRY_MS = 5_000;

/**
 * Has the authorities and token keys of the cluster made before there is any pool, and rotated
 * where there is none: the allocation API cannot serve without them.
 */
export function clusterCredentials(credentials: CredentialStore): Runnable & RoleContribution {
  return {
    name: "cluster-credentials",
    clusterRules: [],
    namespaceRules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "update"] }],
    start({ client, clock, log, signal }) {
      const keep = async () => {
        while (!signal.aborted) {
          let pauseMs = LOOK_MS;
          try {
            await credentials.clientAuthorities(client);
            await credentials.tokenKeys(client);
          } catch (error) {
            pauseMs = RETRY_MS;
            if (!signal.aborted)
              log.error({ error: String(error) }, "the cluster's keys cannot be kept; trying again");
          }
          await sleep(clock, pauseMs, signal).catch(() => undefined);
        }
      };
      const keeping = keep();
      return () => keeping;
    },
  };
}
