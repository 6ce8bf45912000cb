import { type Duration, milliseconds } from "@windlass/clock";
import { authorityName, type Certificates } from "./certificates.ts";
import type { RotationRules } from "./rotation.ts";

const day = 86_400_000;
const minute = 60_000;

/** How an operator makes and renews the certificates of its own webhooks. */
export interface SelfManagedOptions {
  /** The Secret that the authority is kept in. @default `<name>-webhook-ca` */
  readonly secretName?: string;
  /**
   * How long an authority lives; it is followed by another when a third is left.
   *
   * @default "365d"
   */
  readonly authorityLifetime?: Duration;
  /**
   * How long a replica's own certificate lives. At most a third of the authority's life.
   *
   * @default "7d"
   */
  readonly leafLifetime?: Duration;
  /** How long a new authority must have been trusted before it signs. @default "5m" */
  readonly settle?: Duration;
}

/**
 * Certificates that the operator makes, spreads and rotates by itself, with nothing else installed.
 *
 * # Flow
 * The authority is kept in a Secret in the operator's namespace, which the first replica to come
 * makes. Each replica has its own certificate, signed in memory: its key is nowhere else. The
 * authority is put into the webhook configurations and the CRDs by the replica that sees it
 * missing, under a field manager of its own, and again when someone takes it out.
 *
 * # Guarantees
 * - A new authority signs only after every configuration has held it for `settle`; an old one is
 *   trusted until all that it signed has expired. So there is no moment in a rotation at which a
 *   replica serves what the API server does not trust, with any number of replicas, whenever one of
 *   them crashes, and with clocks up to five minutes apart.
 * - A Secret that is deleted while a replica runs comes back as it was.
 *
 * # Caveats
 * To throw an authority away (its key got out), delete the Secret while no replica runs.
 */
export function selfManaged(options: SelfManagedOptions = {}): Certificates {
  const { authorityLifetime = "365d", leafLifetime, settle = "5m" } = options;
  const authorityLifetimeMs = milliseconds(authorityLifetime, "selfManaged: authorityLifetime");
  const leafLifetimeMs = milliseconds(
    leafLifetime ?? Math.min(7 * day, authorityLifetimeMs / 3),
    "selfManaged: leafLifetime",
  );
  const settleMs = milliseconds(settle, "selfManaged: settle");
  if (!(leafLifetimeMs > 0 && leafLifetimeMs <= authorityLifetimeMs / 3))
    throw new RangeError(
      `selfManaged: leafLifetime (${leafLifetime ?? leafLifetimeMs}) must be above 0 and at most a third of authorityLifetime (${authorityLifetime})`,
    );
  // Certificates start five minutes in the past; clocks further apart than that cannot be helped.
  const skewMs = Math.min(5 * minute, leafLifetimeMs / 10);
  const rules: RotationRules = { authorityLifetimeMs, leafLifetimeMs, settleMs, skewMs };
  const secretFor = (name: string) => options.secretName ?? authorityName(name);
  return {
    secretFor,
    keep: async (dependencies) => {
      // Cryptography is loaded only by those who use it.
      const { SelfManagedKeeper } = await import("./self-managed-keeper.ts");
      const keeper = new SelfManagedKeeper(
        dependencies,
        { namespace: dependencies.namespace, name: secretFor(dependencies.name) },
        rules,
      );
      await keeper.start();
      return keeper;
    },
  };
}
