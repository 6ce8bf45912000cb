import { createPrivateKey, X509Certificate } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expired, inspect, type KeyPair } from "@windlass/certificates";
import { countOf, LogThrottle } from "../logging/log-throttle.ts";
import type { Counter } from "../metrics/registry.ts";
import { messageOf } from "../reconcile/errors.ts";
import { authoritiesIn, type StoredAuthority } from "./authority-secret.ts";
import type { CertificateDependencies, CertificateKeeper } from "./certificates.ts";

import { Trust } from "./trust.ts";
import { Turns } from "./turns.ts";
import { certificateFileMetrics } from "./webhook-metrics.ts";

const pollMs = 10_000;

/** One server's part in {@link fromFiles}. */
export class FileKeeper implements CertificateKeeper {
  readonly #dependencies: CertificateDependencies;
  readonly #directory: string;
  readonly #names: Required<FromFilesOptions>;
  readonly #turns: Turns;
  readonly #trust: Trust | undefined;
  readonly #throttle: LogThrottle;
  readonly #reads: Counter;
  readonly #errors: Counter;
  #watcher: FSWatcher | undefined;
  #inUse: KeyPair | undefined;
  #notAfter = 0;
  #fault: string | undefined;

  constructor(dependencies: CertificateDependencies, directory: string, options: FromFilesOptions) {
    this.#dependencies = dependencies;
    this.#directory = directory;
    this.#names = { certificate: "tls.crt", key: "tls.key", authority: "ca.crt", ...options };
    const { reads, errors } = certificateFileMetrics(dependencies.metrics);
    this.#reads = reads;
    this.#errors = errors;
    const { clock, random, log } = dependencies;
    this.#throttle = new LogThrottle(clock);
    this.#turns = new Turns({
      clock,
      random,
      log,
      what: "the webhook configurations cannot be maintained",
      turn: () => this.#turn(),
    });
    if (dependencies.install) this.#trust = new Trust(dependencies, () => void this.#turns.take());
  }

  async start(): Promise<void> {
    await this.#turns.take();
    this.#watch();
    if (!this.#trust) return;
    await this.#trust.seen();
    await this.#turns.take();
  }

  fault(): string | undefined {
    if (!this.#inUse) return this.#fault ?? "there is no certificate yet";
    if (this.#dependencies.clock.now() < this.#notAfter) return undefined;
    return `the certificate in ${this.#directory} expired at ${new Date(this.#notAfter).toISOString()}: renew it`;
  }

  async close(): Promise<void> {
    this.#watcher?.close();
    this.#trust?.close();
    await this.#turns.close();
  }

  /**
   * Mounted Secrets change by swapping a link in the directory, so it is the directory that is
   * watched.
   */
  #watch(): void {
    try {
      this.#watcher = watch(this.#directory, { persistent: false }, () => void this.#turns.take());
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch (error) {
      this.#dependencies.log.debug({ error: messageOf(error) }, "the certificate's directory is polled");
    }
  }

  async #turn(): Promise<number> {
    const { clock, log } = this.#dependencies;
    try {
      await this.#load();
      if (this.#fault !== undefined) this.#throttle.clear(this.#fault);
      this.#fault = undefined;
    } catch (error) {
      this.#errors.inc();
      const fault = `the certificate in ${this.#directory} cannot be used: ${messageOf(error)}`;
      const decision = this.#throttle.record(fault);
      if (decision.as !== "suppressed")
        log.error(countOf(decision), this.#inUse ? `${fault}; the one before stays in use` : fault);
      this.#fault = fault;
    }
    await this.#trust?.inject(await this.#authorities(), clock.now(), 0);
    return clock.now() + pollMs;
  }

  async #load(): Promise<void> {
    const { clock, log, use } = this.#dependencies;
    const pair = {
      certificate: await this.#read(this.#names.certificate),
      key: await this.#read(this.#names.key),
    };
    this.#reads.inc();
    if (pair.certificate === this.#inUse?.certificate && pair.key === this.#inUse.key) return;
    const found = checked(pair, this.#names, clock.now());
    use(pair);
    this.#inUse = pair;
    this.#notAfter = found;
    log.info({ until: new Date(found).toISOString() }, "the webhook server has a new certificate");
  }

  #read(name: string): Promise<string> {
    return readFile(join(this.#directory, name), "utf8");
  }

  async #authorities(): Promise<readonly StoredAuthority[]> {
    try {
      return authoritiesIn(await this.#read(this.#names.authority));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}

/** @returns when the certificate expires. @throws Error saying what is wrong with the pair. */
function checked({ certificate, key }: KeyPair, names: Required<FromFilesOptions>, now: number): number {
  const inspection = inspect(certificate);
  if (!new X509Certificate(certificate).checkPrivateKey(privateKey(key, names.key)))
    throw new Error(`${names.key} is not the key of ${names.certificate}`);
  if (expired(inspection, now)) {
    const { notBefore, notAfter } = inspection;
    throw new Error(
      now > notAfter
        ? `${names.certificate} expired at ${new Date(notAfter).toISOString()}`
        : `${names.certificate} is valid only from ${new Date(notBefore).toISOString()} on`,
    );
  }
  return inspection.notAfter;
}

function privateKey(text: string, name: string) {
  try {
    return createPrivateKey(text);
  } catch {
    // Nothing that was made from key material travels with an error.
    throw new Error(`${name} is not an unencrypted private key in PEM`);
  }
}

/** Where the certificate files of a webhook server are. */
export interface FromFilesOptions {
  /** @default "tls.crt" */
  readonly certificate?: string;
  /** @default "tls.key" */
  readonly key?: string;
  /**
   * The authority, if it is there: used where the server installs its own configurations.
   *
   * @default "ca.crt"
   */
  readonly authority?: string;
}
