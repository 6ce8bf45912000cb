import { compareResourceVersions, isConflict, isNotFound, type KubernetesObject } from "@windlass/client";
import { sleep } from "@windlass/clock";
import type { Informer } from "../cache/contract.ts";
import { authoritiesIn, bundleOf, type StoredAuthority } from "./authority-secret.ts";
import { authorityName, type CertificateDependencies } from "./certificates.ts";
import { contains } from "./contains.ts";
import { trustFor } from "./rotation.ts";
import type { TrustTarget } from "./trust-target.ts";

/** What a {@link Trust} depends on. */
export type TrustDependencies = Pick<
  CertificateDependencies,
  "name" | "targets" | "client" | "cache" | "clock" | "log"
>;

interface Watched {
  readonly target: TrustTarget;
  readonly informer: Informer<KubernetesObject>;
  object: KubernetesObject | undefined;
  /**
   * What our last write was, and what it came to: if the server thinks otherwise, there is no use
   * in repeating it.
   */
  written: { readonly version: string | undefined; readonly bundle: string } | undefined;
}

/**
 * Watches the objects that tell the API server whom to call, and sees to it that they hold the
 * authorities they must. Any number of replicas may do so at a time: a write is bound to what it
 * was decided from.
 */
export class Trust {
  readonly #dependencies: TrustDependencies;
  readonly #onChange: () => void;
  readonly #watched: readonly Watched[];
  readonly #parsed = new Map<string, readonly StoredAuthority[]>();
  /** Since when all who call hold an authority. */
  #since = new Map<string, number>();
  /** Since when no API server calls. */
  #nobodySince: number | undefined;

  /** @param onChange called whenever something was seen that may want an answer. */
  constructor(dependencies: TrustDependencies, onChange: () => void) {
    this.#dependencies = dependencies;
    this.#onChange = onChange;
    this.#watched = dependencies.targets.map((target) => {
      const scope = { fieldSelector: `metadata.name=${target.name}` };
      return {
        target,
        informer: dependencies.cache.informer(target.kind, scope),
        object: undefined,
        written: undefined,
      };
    });
    for (const one of this.#watched) this.#follow(one);
    this.#judge();
  }

  /**
   * How long every target has held the authority; undefined if not all do, or not all have been
   * seen.
   */
  readonly trustedForMs = (id: string): number | undefined => {
    const since = this.#nobodySince ?? this.#since.get(id);
    return since === undefined ? undefined : this.#dependencies.clock.monotonic() - since;
  };

  /**
   * Resolves when all targets have been read, or could not be for some seconds: a server
   * starts even where it may not look at them.
   */
  async seen(): Promise<void> {
    const done = new AbortController();
    const late = sleep(this.#dependencies.clock, 5_000, done.signal).catch(() => undefined);
    await Promise.race([late, Promise.allSettled(this.#watched.map(({ informer }) => informer.synced))]);
    done.abort();
  }

  /** Why the authority is not trusted everywhere, in words; undefined if it is. */
  faultFor(id: string): string | undefined {
    for (const { target, informer, object } of this.#watched) {
      const subject = `${target.kind.kind} ${target.name}`;
      if (!informer.hasSynced) return `${subject} could not be read yet`;
      if (object && !this.#trusts(target, object, id))
        return `the caBundle of ${subject} does not hold the certificate authority yet`;
    }
    return undefined;
  }

  /**
   * Puts what is needed where it is missing.
   *
   * @throws ApiError, TransportError when a target cannot be written; what can be is.
   */
  async inject(needed: readonly StoredAuthority[], now: number, skewMs: number): Promise<void> {
    const outcomes = await Promise.allSettled(
      this.#watched.map((one) => this.#injectInto(one, needed, now, skewMs)),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  close(): void {
    for (const { informer } of this.#watched) informer.release();
  }

  #follow(watched: Watched): void {
    const { informer, target } = watched;
    informer.subscribe((event) => {
      if (event.object.metadata.name !== target.name) return;
      this.#see(watched, event.type === "deleted" ? undefined : event.object);
      this.#onChange();
    });
    const onSynced = () => {
      this.#judge();
      this.#onChange();
    };
    // It rejects when the cache is stopped, and then there is nothing more to see.
    informer.synced.then(onSynced, () => undefined);
  }

  #see(watched: Watched, object: KubernetesObject | undefined): void {
    if (object && watched.object && isOlder(object, watched.object)) return;
    const before = watched.object && watched.target.astray(watched.object);
    watched.object = object;
    this.#judge();
    const astray = object && watched.target.astray(object);
    const { kind, name } = watched.target;
    if (astray !== undefined && astray !== before)
      this.#dependencies.log.warn({}, `${kind.kind} ${name}: ${astray}`);
  }

  /** Finds what all who call trust at this moment. A missing target has no callers. */
  #judge(): void {
    const isSeen = this.#watched.every(({ informer }) => informer.hasSynced);
    const callers = this.#watched.flatMap(({ target, object }) => (object ? this.#held(target, object) : []));
    const now = this.#dependencies.clock.monotonic();
    this.#nobodySince = isSeen && callers.length === 0 ? (this.#nobodySince ?? now) : undefined;
    const ids = isSeen ? new Set(callers.flat().map(({ id }) => id)) : [];
    const since = new Map<string, number>();
    for (const id of ids)
      if (callers.every((held) => held.some((one) => one.id === id)))
        since.set(id, this.#since.get(id) ?? now);
    this.#since = since;
  }

  #trusts(target: TrustTarget, object: KubernetesObject, id: string): boolean {
    return this.#held(target, object).every((held) => held.some((one) => one.id === id));
  }

  #held(target: TrustTarget, object: KubernetesObject): readonly (readonly StoredAuthority[])[] {
    return target.bundlesIn(object).map((bundle) => this.#parse(bundle));
  }

  #parse(bundle: string): readonly StoredAuthority[] {
    const known = this.#parsed.get(bundle);
    if (known) return known;
    const parsed = authoritiesIn(Buffer.from(bundle, "base64").toString("utf8"));
    if (this.#parsed.size > 20) this.#parsed.clear();
    this.#parsed.set(bundle, parsed);
    return parsed;
  }

  async #injectInto(
    watched: Watched,
    needed: readonly StoredAuthority[],
    now: number,
    skewMs: number,
  ): Promise<void> {
    const { target, informer, object } = watched;
    if (!informer.hasSynced) return;
    const held = object === undefined ? [] : this.#held(target, object).flat();
    const present = [...new Map(held.map((one) => [one.id, one])).values()];
    const bundle = bundleOf(trustFor(present, needed, now, { skewMs }));
    const caBundle = bundle === "" ? undefined : Buffer.from(bundle).toString("base64");
    try {
      if (object) await this.#redirect(watched, object, caBundle);
      await this.#apply(watched, bundle, caBundle);
    } catch (error) {
      // Another replica was faster, or it was deleted; the watch shows the outcome.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  /** Has entries lead here that led elsewhere in the way that we do not use. */
  async #redirect(watched: Watched, object: KubernetesObject, caBundle: string | undefined): Promise<void> {
    const { target } = watched;
    const { client, log, name } = this.#dependencies;
    const replacements = target.contradictions(object, caBundle);
    if (replacements.length === 0) return;
    // A version in the patch makes it one of that version: if the object has changed meanwhile,
    // that is a conflict.
    const bound = { path: "/metadata/resourceVersion", value: object.metadata.resourceVersion };
    const patch = [bound, ...replacements].map((one) => ({ op: "replace" as const, ...one }));
    const key = { name: target.name };
    const fieldManager = authorityName(name);
    this.#see(watched, await client.patch(target.kind, key, { type: "json", patch }, { fieldManager }));
    log.info({ kind: target.kind.kind, name: target.name }, "had webhooks that led elsewhere lead here");
  }

  async #apply(watched: Watched, bundle: string, caBundle: string | undefined): Promise<void> {
    const { target, object, written } = watched;
    const { client, log } = this.#dependencies;
    const wanted = target.wanted(object, caBundle);
    if (wanted === undefined || contains(object, wanted)) return;
    const { resourceVersion, uid } = object?.metadata ?? {};
    if (written !== undefined && written.version === resourceVersion && written.bundle === bundle) return;
    const bound = object ? { ...wanted, metadata: { name: target.name, resourceVersion, uid } } : wanted;
    // A name of its own, so that applying a manifest does not take the bundle away.
    const fieldManager = authorityName(this.#dependencies.name);
    const after = await client.apply(target.kind, bound, { fieldManager, force: true });
    watched.written = { version: after.metadata.resourceVersion, bundle };
    this.#see(watched, after);
    log.info(
      { kind: target.kind.kind, name: target.name },
      "put the webhook's certificate authority in place",
    );
  }
}

function isOlder(one: KubernetesObject, than: KubernetesObject): boolean {
  const { resourceVersion: a = "", uid } = one.metadata;
  const { resourceVersion: b = "" } = than.metadata;
  return uid === than.metadata.uid && (compareResourceVersions(a, b) ?? 0) < 0;
}
