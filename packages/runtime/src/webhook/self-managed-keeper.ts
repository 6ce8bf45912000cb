import { CertificateError, createAuthority, loadAuthority } from "@windlass/certificates";
import {
  compareResourceVersions,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type ObjectOf,
} from "@windlass/client";
import { Secret } from "@windlass/kinds/builtin";
import { authoritiesFrom, authorityFrom, type StoredAuthority, secretData } from "./authority-secret.ts";
import { authorityName, type CertificateDependencies, type CertificateKeeper } from "./certificates.ts";
import {
  type Authorities,
  type Leaf,
  leafStep,
  type Observation,
  type RotationRules,
  sharedStep,
  stepped,
  trustedOf,
} from "./rotation.ts";
import { Trust } from "./trust.ts";
import { Turns } from "./turns.ts";

interface SecretKey {
  readonly namespace: string;
  readonly name: string;
}

type SecretObject = ObjectOf<typeof Secret>;

/** One replica's part in {@link selfManaged}. */
export class SelfManagedKeeper implements CertificateKeeper {
  readonly #dependencies: CertificateDependencies;
  readonly #key: SecretKey;
  readonly #rules: RotationRules;
  readonly #turns: Turns;
  readonly #trust: Trust;
  readonly #release: () => void;
  /** The Secret as last seen; undefined if there is none. */
  #secret: SecretObject | undefined;
  #hasLooked = false;
  /** What the Secret said, and what it will say again if it is lost or spoilt. */
  #shared: Authorities<StoredAuthority> = { at: "none" };
  #isSpoilt = false;
  #leaf: Leaf = { at: "none" };
  #wasTrusted = false;

  constructor(dependencies: CertificateDependencies, key: SecretKey, rules: RotationRules) {
    this.#dependencies = dependencies;
    this.#key = key;
    this.#rules = rules;
    const { clock, random, log, cache } = dependencies;
    this.#turns = new Turns({
      clock,
      random,
      log,
      what: "the webhook's certificates cannot be maintained",
      turn: () => this.#turn(),
    });
    const onChange = () => void this.#turns.take();
    this.#trust = new Trust(dependencies, onChange);
    const scope = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
    const informer = cache.informer(Secret, scope);
    informer.subscribe(({ type, object }) => {
      if (object.metadata.name !== key.name || object.metadata.namespace !== key.namespace) return;
      if (type === "deleted" ? this.#forget(object) : this.#see(object)) onChange();
    });
    this.#release = () => informer.release();
  }

  async start(): Promise<void> {
    await this.#turns.take();
    await this.#trust.seen();
    await this.#turns.take();
  }

  fault(): string | undefined {
    const { clock } = this.#dependencies;
    const leaf = this.#leaf;
    if (leaf.at === "none") return `there is no certificate yet: ${this.#turns.fault ?? "starting"}`;
    if (clock.now() >= leaf.notAfter)
      return `the certificate expired at ${new Date(leaf.notAfter).toISOString()}: ${this.#turns.fault ?? "no successor yet"}`;
    if (this.#wasTrusted) return undefined;
    const fault = this.#trust.faultFor(leaf.issuer);
    this.#wasTrusted = fault === undefined;
    if (fault === undefined || this.#turns.fault === undefined) return fault;
    return `${fault}: ${this.#turns.fault}`;
  }

  async close(): Promise<void> {
    this.#release();
    this.#trust.close();
    await this.#turns.close();
  }

  /** One look at everything. */
  async #turn(): Promise<number> {
    const { clock } = this.#dependencies;
    const lookAgain = await this.#share();
    const shared = this.#shared;
    let step = leafStep(this.#leaf, shared, this.#look(), this.#rules);
    if (step.do === "mint") {
      this.#mint();
      step = leafStep(this.#leaf, shared, this.#look(), this.#rules);
    }
    await this.#trust.inject(trustedOf(shared), clock.now(), this.#rules.skewMs);
    return Math.min(lookAgain, step.do === "keep" ? step.lookAt : Number.POSITIVE_INFINITY);
  }

  /** Brings the shared authorities on, until there is nothing to do but to wait. */
  async #share(): Promise<number> {
    if (!this.#hasLooked) await this.#read();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const look = this.#look();
      const isLost = (this.#secret === undefined || this.#isSpoilt) && this.#shared.at !== "none";
      const step = sharedStep(this.#shared, look, this.#rules);
      if (step.do === "wait" && !isLost) return step.lookAt;
      const next =
        step.do === "wait"
          ? this.#shared
          : stepped(this.#shared, step, look, this.#rules, () => this.#newAuthority());
      if (next.at === "none") return Number.POSITIVE_INFINITY;
      await this.#write(next, step.do === "wait" ? "restore" : step.do);
    }
    throw new Error(`Secret ${this.#key.namespace}/${this.#key.name} changes whenever it is to be written`);
  }

  #look(): Observation {
    return { now: this.#dependencies.clock.now(), trustedForMs: this.#trust.trustedForMs };
  }

  async #read(): Promise<void> {
    try {
      this.#see(await this.#dependencies.client.get(Secret, this.#key));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#secret = undefined;
    }
    this.#hasLooked = true;
  }

  async #write(
    next: Exclude<Authorities<StoredAuthority>, { readonly at: "none" }>,
    why: string,
  ): Promise<void> {
    const { client, log, name } = this.#dependencies;
    const data = secretData(next);
    const fieldManager = authorityName(name);
    try {
      const after = this.#secret
        ? await client.update(Secret, { ...this.#secret, data }, { fieldManager })
        : await client.create(
            Secret,
            {
              metadata: { ...this.#key, labels: { "app.kubernetes.io/managed-by": name } },
              type: "Opaque",
              data,
            },
            { fieldManager },
          );
      this.#see(after);
      log.info({ secret: this.#key.name, step: why }, "the webhook's certificate authority went a step on");
    } catch (error) {
      if (!this.#secret && isNotFound(error)) throw this.#noNamespace(error);
      // Another replica was faster. What it wrote is as good.
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      await this.#read();
    }
  }

  #noNamespace(cause: unknown): Error {
    const { namespace, name } = this.#key;
    return new Error(
      `there is no namespace ${JSON.stringify(namespace)} to keep Secret ${name} in: create it, or name the operator's own, with POD_NAMESPACE or webhookServer({ service: { namespace } })`,
      { cause },
    );
  }

  /** @returns whether it was news */
  #see(secret: SecretObject): boolean {
    const { resourceVersion = "", uid } = secret.metadata;
    const known = this.#secret?.metadata;
    if (
      known?.uid === uid &&
      (compareResourceVersions(resourceVersion, known?.resourceVersion ?? "") ?? 1) <= 0
    )
      return false;
    this.#secret = secret;
    this.#hasLooked = true;
    try {
      this.#shared = authoritiesFrom(secret.data);
      this.#isSpoilt = false;
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      this.#dependencies.log.error(
        { secret: this.#key.name, error: error.message },
        "the Secret does not hold the webhook's certificate authority; it is written again",
      );
      this.#isSpoilt = true;
    }
    return true;
  }

  #forget(secret: SecretObject): boolean {
    if (this.#secret?.metadata.uid !== secret.metadata.uid) return false;
    this.#secret = undefined;
    return true;
  }

  #newAuthority(): StoredAuthority {
    const { clock, random, name } = this.#dependencies;
    const { certificate, key } = createAuthority({
      commonName: authorityName(name),
      validFor: this.#rules.authorityLifetimeMs,
      clock,
      random,
    });
    return authorityFrom(certificate, key);
  }

  #mint(): void {
    if (this.#shared.at === "none") return;
    const { clock, random, log, dnsNames, ipAddresses, name, use } = this.#dependencies;
    const { signer } = this.#shared;
    const pair = loadAuthority(signer.certificate, signer.key ?? "", { clock, random }).issue({
      commonName: `${name}-webhook`,
      dnsNames,
      ipAddresses,
      usages: ["server"],
      validFor: this.#rules.leafLifetimeMs,
    });
    use(pair);
    const { notAfter } = authorityFrom(pair.certificate);
    this.#leaf = { at: "serving", issuer: signer.id, notAfter };
    log.info({ until: new Date(notAfter).toISOString() }, "the webhook server has a new certificate");
  }
}
