import { condition, controller } from "@windlass/runtime";
import { DiscoveryError, discover, type FetchJson } from "./discovery.ts";
import { fetchJson } from "./fetch-json.ts";
import { BuildKitOIDCConfig, type OIDCConfig } from "./oidc-config.ts";

/** How the controller reaches issuers. */
export interface OIDCDependencies {
  /** The operator's: providers count there alone. */
  readonly namespace: string;
  /** @default over the network */
  readonly fetchJson?: FetchJson;
}

/** How often an issuer is asked that answers. */
const LOOK_MS = 10 * 60_000;
/** How often one is asked that does not. */
const RETRY_MS = 30_000;

/**
 * Says of each identity provider whether it can be reached, and has keys. What tokens are worth is
 * the API's to judge.
 */
export function oidcController({ namespace, fetchJson: fetch }: OIDCDependencies) {
  return controller(BuildKitOIDCConfig, {
    name: "buildkitoidcconfig",
    concurrency: 4,
    async reconcile(config, { signal }) {
      const unused = unusedBecause(config, namespace);
      if (unused) {
        const { reason, message } = unused;
        return {
          status: { ready: false, message, conditions: [condition("Ready", false, reason, message)] },
        };
      }
      const ask: FetchJson = fetch ?? ((url, within) => fetchJson(url, within, config.spec.caBundle));
      const found = await outcomeOf(config, ask, signal);
      const isReady = found.is === "ready";
      return {
        status: {
          ready: isReady,
          message: found.message,
          ...(isReady && { jwksURI: found.jwksUri, keys: found.keys }),
          conditions: [
            condition("Ready", isReady, isReady ? "IssuerReachable" : found.reason, found.message),
          ],
        },
        requeueAfter: isReady ? LOOK_MS : RETRY_MS,
      };
    },
  });
}

/** Why a provider's tokens are not taken, whatever the provider says. Undefined: they are. */
function unusedBecause({ metadata, spec }: OIDCConfig, namespace: string) {
  if (metadata.namespace !== namespace)
    return {
      reason: "NamespaceNotTrusted",
      message: `only providers in namespace ${namespace} count; for one pool alone there is spec.auth.methods of the pool`,
    };
  if (!spec.enabled)
    return { reason: "Disabled", message: "spec.enabled is false: its tokens are not taken" };
  return undefined;
}

async function outcomeOf({ spec }: OIDCConfig, ask: FetchJson, signal: AbortSignal) {
  try {
    const { jwksUri, keys } = await discover(spec.issuer, ask, signal);
    return { is: "ready", jwksUri, keys, message: `the issuer has ${keys} keys` } as const;
  } catch (error) {
    if (!(error instanceof DiscoveryError)) throw error;
    return { is: "faulty", reason: error.reason, message: error.message } as const;
  }
}
