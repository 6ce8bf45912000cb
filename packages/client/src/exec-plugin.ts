import { readFile } from "node:fs/promises";
import type { Clock } from "@windlass/clock";
import { isRecord } from "@windlass/kinds/json";
import type { Credential, Credentials } from "./credential.ts";
import { TransportError } from "./errors.ts";
import type { ClusterAccess } from "./kubeconfig/access.ts";
import type { ExecConfig } from "./kubeconfig/kubeconfig.ts";

/** The extension of a cluster whose content goes to its exec plugin. */
const CLUSTER_CONFIG = "client.authentication.k8s.io/exec";

/** A program that need not wait for a person has this long. */
const TIMEOUT_MS = 60_000;

/**
 * How long before a credential expires another is got while it is still used: this share of its
 * life, and no more than two minutes. A program that takes long would otherwise hold up every
 * request at that moment, and those that renew a lease with them.
 */
const EARLY_SHARE = 0.2;
const EARLIEST_MS = 120_000;

/** A token and a certificate are a few thousand bytes. */
const LARGEST_OUTPUT = 1024 * 1024;

interface CachedCredential {
  readonly credential: Credential;
  /** In the clock's `now()`; undefined if it does not say. */
  readonly expiresAt: number | undefined;
  /** From when on another is worth getting, though this one can still be used. */
  readonly renewAt: number | undefined;
}

/**
 * Credentials from a program, by the client.authentication.k8s.io protocol. What it printed is kept
 * until it expires or the server refuses it; however many requests wait for it, the program runs
 * once. Shortly before it expires, the first request has the program run again, and does not wait
 * for it.
 */
export class ExecPlugin implements Credentials {
  readonly #config: ExecConfig;
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  #cached: CachedCredential | undefined;
  #running: Promise<CachedCredential> | undefined;
  /**
   * The one that was to be renewed early: once, for a program that fails is not to be run with
   * every request.
   */
  #renewedEarly: CachedCredential | undefined;

  constructor(config: ExecConfig, access: ClusterAccess, clock: Clock) {
    this.#config = config;
    this.#access = access;
    this.#clock = clock;
  }

  current(): Credential | Promise<Credential> {
    const held = this.#cached;
    const now = this.#clock.now();
    if (!held || (held.expiresAt !== undefined && held.expiresAt <= now))
      return this.#renewed().then(({ credential }) => credential);
    if (held.renewAt !== undefined && held.renewAt <= now && this.#renewedEarly !== held) {
      this.#renewedEarly = held;
      // If it fails it is run again when this one has expired, and then those who wait for it are
      // told.
      this.#renewed().catch(() => undefined);
    }
    return held.credential;
  }

  invalidate(refused: Credential): void {
    if (this.#cached?.credential === refused) this.#cached = undefined;
  }

  /** What the program prints: the run that is under way, or a new one. */
  #renewed(): Promise<CachedCredential> {
    this.#running ??= this.#refresh().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #refresh(): Promise<CachedCredential> {
    const isInteractive = this.#config.interactiveMode !== "Never" && process.stdin.isTTY === true;
    if (this.#config.interactiveMode === "Always" && !isInteractive)
      throw this.#failure(
        "wants to ask a person, and there is no terminal; log in before, or from a terminal",
      );
    const info = JSON.stringify(await this.#execInfo(isInteractive));
    this.#cached = this.#read(await this.#run(info, isInteractive));
    return this.#cached;
  }

  async #execInfo(interactive: boolean): Promise<object> {
    const { apiVersion, provideClusterInfo } = this.#config;
    const spec = provideClusterInfo ? { interactive, cluster: await this.#clusterInfo() } : { interactive };
    return { apiVersion, kind: "ExecCredential", spec };
  }

  async #clusterInfo(): Promise<object> {
    const { cluster } = this.#access;
    const ca =
      cluster.certificateAuthorityData ??
      (cluster.certificateAuthority
        ? (await readFile(cluster.certificateAuthority)).toString("base64")
        : undefined);
    const config = cluster.extensions?.get(CLUSTER_CONFIG);
    return {
      server: cluster.server,
      ...(cluster.tlsServerName ? { "tls-server-name": cluster.tlsServerName } : {}),
      ...(cluster.insecureSkipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
      ...(ca ? { "certificate-authority-data": ca } : {}),
      ...(cluster.proxyUrl ? { "proxy-url": cluster.proxyUrl } : {}),
      ...(cluster.disableCompression ? { "disable-compression": true } : {}),
      ...(config === undefined ? {} : { config }),
    };
  }

  async #run(info: string, isInteractive: boolean): Promise<string> {
    // Most processes never need it, and it is one of the larger parts of Node.
    const { spawn } = await import("node:child_process");
    const { command, args, env } = this.#config;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    // What it says to people goes where they look; what it prints are credentials, and are read
    // here alone.
    const child = spawn(command, [...args], {
      env: { ...process.env, ...variables, KUBERNETES_EXEC_INFO: info },
      stdio: [isInteractive ? "inherit" : "ignore", "pipe", "inherit"],
      windowsHide: true,
    });
    const output: Buffer[] = [];
    let length = 0;
    // Processes that it started may keep its output open: that is not waited for.
    const end = (fault: string) => {
      reject(this.#failure(fault));
      child.stdout?.destroy();
      child.kill("SIGKILL");
    };
    child.stdout?.on("data", (chunk: Buffer) => {
      output.push(chunk);
      length += chunk.length;
      if (length > LARGEST_OUTPUT) end(`printed more than ${LARGEST_OUTPUT} bytes, which is no credential`);
    });
    const cancelTimeout = isInteractive
      ? undefined
      : this.#clock.schedule(TIMEOUT_MS, () => end(`did not end within ${TIMEOUT_MS / 1000} s`));
    // More than once: of a program that runs as another user, each attempt to end it is an error.
    child.on("error", (error: NodeJS.ErrnoException) => {
      const fault =
        error.code === "ENOENT" ? "is not installed, or not in PATH" : `cannot run (${error.code})`;
      const { installHint } = this.#config;
      reject(this.#failure(installHint ? `${fault}; ${installHint.trim()}` : fault, error));
    });
    child.once("close", (status, signal) => {
      if (status === 0) resolve(Buffer.concat(output).toString("utf8"));
      else
        reject(
          this.#failure(`failed (${signal ?? `exit status ${status}`}); what it wrote to stderr says why`),
        );
    });
    return promise.finally(() => cancelTimeout?.());
  }

  /** The output is never quoted: it is a credential. */
  #read(output: string): CachedCredential {
    const { apiVersion } = this.#config;
    const document = tryParse(output);
    if (!isRecord(document) || document.kind !== "ExecCredential")
      throw this.#failure("did not print an ExecCredential as JSON");
    if (document.apiVersion !== apiVersion)
      throw this.#failure(
        `printed an ExecCredential of another apiVersion than ${apiVersion}, which the kubeconfig names`,
      );
    const status = isRecord(document.status) ? document.status : {};
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
    const hasPair = typeof cert === "string" && cert !== "" && typeof key === "string" && key !== "";
    if (!hasPair && (cert || key))
      throw this.#failure("printed a client certificate without its key, or a key alone");
    const hasToken = typeof token === "string" && token !== "";
    if (!hasToken && !hasPair) throw this.#failure("printed neither a token nor a client certificate");
    const expires = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : Number.NaN;
    const lifeMs = expires - this.#clock.now();
    return {
      credential: {
        ...(hasToken ? { authorization: `Bearer ${token}` } : {}),
        ...(hasPair ? { cert, key } : {}),
      },
      ...(Number.isNaN(expires)
        ? { expiresAt: undefined, renewAt: undefined }
        : { expiresAt: expires, renewAt: expires - Math.min(EARLIEST_MS, lifeMs * EARLY_SHARE) }),
    };
  }

  #failure(fault: string, cause?: unknown): TransportError {
    return new TransportError(
      "CREDENTIALS_FAILED",
      `exec plugin ${JSON.stringify(this.#config.command)} ${fault}`,
      {
        cause,
        mayHaveBeenSent: false,
      },
    );
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
