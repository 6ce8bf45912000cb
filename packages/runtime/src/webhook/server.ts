import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { AnyKind } from "@windlass/client";
import { type Duration, milliseconds, sleep } from "@windlass/clock";
import type { PolicyRule, RoleContribution } from "../controller/rbac.ts";
import type { Runnable, RunnableContext } from "../manager/runnable.ts";
import type { ConversionWebhook } from "../resource/crd.ts";
import type { AdmissionHandler, Completed, Completing, Default, Validate } from "./admission.ts";
import type { CertificateKeeper, Certificates } from "./certificates.ts";
import {
  configurationsFor,
  type Declared,
  type DefaultRules,
  pathOf,
  type WebhookConfiguration,
  type WebhookRules,
  type Where,
} from "./configurations.ts";
import { conversionPath, Dispatcher, type WebhookAnswer, type WebhookCall } from "./dispatch.ts";
import { withoutCertificates } from "./in-process.ts";
import type { Convertible } from "./review.ts";
import { selfManaged } from "./self-managed.ts";
import { checkUrl, type ServiceAddress, surroundingsFrom } from "./surroundings.ts";
import type { TrustTarget } from "./trust-target.ts";
import { authoritySecretRules, configurationRules, conversionRules } from "./webhook-rbac.ts";

/** How a webhook server listens, and which requests it takes. */
export interface WebhookServerOptions {
  /** The operator's name: of its webhook configurations, and the root of the other names. */
  readonly name: string;
  /** The Service by which the API server calls. */
  readonly service?: {
    /** @default `<name>-webhook` */
    readonly name?: string;
    /** The operator's own namespace. @default POD_NAMESPACE, then the service account's */
    readonly namespace?: string;
    /** @default 443 */
    readonly port?: number;
  };
  /**
   * Called by URL instead of by a Service: for an operator that runs outside the cluster, on a
   * machine that the API server reaches. E.g. `https://192.168.1.7:9443`. The variables WEBHOOK_URL
   * and WEBHOOK_SERVICE (`namespace/name`, of a Service that leads here by some way), read when the
   * server starts, do the same and set `install`, so that a program need not know where it runs.
   * @default as the variables say, else called by its Service
   */
  readonly url?: string;
  /**
   * 0 picks a free one; `false` has no socket at all, and is called with
   * {@link WebhookServer.handle}.
   * @default that of the variable WEBHOOK_BIND_ADDRESS, else 9443
   */
  readonly port?: number | false;
  /**
   * Called in this process instead of by a socket, and without certificates: handed what answers
   * when the server starts, and returns the way to take it back. For an API server in the same
   * process, such as an embedded control plane. @default a socket
   */
  readonly attach?: AttachWebhooks;
  /** @default that of the variable WEBHOOK_BIND_ADDRESS, else all interfaces */
  readonly host?: string;
  /** Where the server's certificate comes from. @default selfManaged() */
  readonly certificates?: Certificates;
  /**
   * Make the webhook configurations, and tell the CRDs where to convert, instead of leaving that to
   * manifests. Needs more rights. @default false
   */
  readonly install?: boolean;
  /** How long the API server waits for an answer, in seconds: 1 to 30. @default 10 */
  readonly timeoutSeconds?: number;
  /**
   * How long it goes on serving once the manager is asked to stop: as long as it takes until the
   * Service's endpoints no longer lead here on any node. Together with `timeoutSeconds`, less than
   * the manager's `gracefulShutdownTimeout`. A process that no readiness probe has found ready,
   * such as one outside a cluster, stops at once. @default "10s", or 0 when called by URL or as
   * WEBHOOK_SERVICE says: no endpoints lead here
   */
  readonly shutdownDelay?: Duration;
}

/** The Service by which webhooks are called, and what answers the calls to it. */
export type AttachWebhooks = (
  service: { readonly name: string; readonly namespace: string; readonly port: number },
  handle: (call: WebhookCall) => Promise<WebhookAnswer>,
) => () => void;

/** A kind with several versions, as `withVersion` returns. */
export type ConvertibleKind = Convertible &
  Pick<AnyKind, "plural"> & { readonly versions: readonly string[] };

/**
 * A server of admission and conversion webhooks. Add it to a manager: it serves on every replica,
 * leading or not, from before the caches are filled.
 */
export interface WebhookServer extends Runnable, RoleContribution {
  readonly stage: "webhook";
  /**
   * Decides whether objects of a kind may be written.
   *
   * @example
   * webhooks.validate(WebApp, ({ spec }, { warn }) => {
   *   if (spec.image.endsWith(":latest")) warn("spec.image: latest is whatever it is today; name a version");
   *   return spec.image.includes(":") ? [] : invalid("spec.image", "must have a tag, such as nginx:1.29");
   * });
   */
  validate<K extends AnyKind>(kind: K, handler: Validate<K>, rules?: WebhookRules): WebhookServer;
  /**
   * Completes objects of a kind before they are validated and stored.
   *
   * @example
   * webhooks.default(WebApp, (app) => ({
   *   ...app,
   *   metadata: { ...app.metadata, labels: { "app.kubernetes.io/name": app.metadata.name, ...app.metadata.labels } },
   * }));
   */
  default<K extends AnyKind, const Result extends Completed<K> = undefined>(
    kind: K,
    handler: Default<K, Result> & Completing<K, Result>,
    rules?: DefaultRules,
  ): WebhookServer;
  /** Converts between the versions of a kind, by the functions it was given in `withVersion`. */
  convert(kind: ConvertibleKind): WebhookServer;
  /**
   * The webhook configurations, for manifests. They have no `caBundle`: the running server puts it
   * in.
   *
   * @param options.namespace the operator's own. @default that of the options, POD_NAMESPACE, or
   *   `default`
   */
  configurations(options?: { readonly namespace?: string }): readonly WebhookConfiguration[];
  /** Where the kinds are converted, for `crd({ conversion })`. */
  conversion(options?: { readonly namespace?: string }): ConversionWebhook;
  /**
   * Answers one call, without a socket: for tests, and for an embedded control plane.
   *
   * @example
   * plane.bindService("webapp-system", "webapp-operator-webhook", 443, webhooks.handle);
   */
  readonly handle: (call: WebhookCall) => Promise<WebhookAnswer>;
  /** The port it listens on, once started. */
  readonly port: number | undefined;
}

/**
 * A server of webhooks. It does nothing until its manager starts.
 *
 * @example
 * const webhooks = webhookServer({ name: "webapp-operator" })
 *   .validate(WebApp, refuseLatest)
 *   .default(WebApp, addLabels)
 *   .convert(WebApp);
 * await manager().add(webapp).add(webhooks).run();
 */
export function webhookServer(options: WebhookServerOptions): WebhookServer {
  return new Server(options);
}

const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

class Server implements WebhookServer {
  readonly name = "webhook";
  readonly stage = "webhook";
  readonly #options: WebhookServerOptions;
  readonly #certificates: Certificates;
  readonly #dispatcher: Dispatcher;
  readonly #declared: Declared[] = [];
  readonly #converted: ConvertibleKind[] = [];
  #url: string | undefined;
  #service: ServiceAddress | undefined;
  #install: boolean;
  #port: number | undefined;
  #drain: () => Promise<void> = () => Promise.resolve();

  constructor(options: WebhookServerOptions) {
    const { url, timeoutSeconds = 10, shutdownDelay = 0, name } = options;
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
      throw new TypeError(`webhookServer: name ${JSON.stringify(name)} must be a name as objects have it`);
    if (url !== undefined) checkUrl(url, "webhookServer: url");
    if (url !== undefined && options.attach)
      throw new TypeError("webhookServer: what is called by url has a socket; leave out attach, or url");
    checkTimeout(timeoutSeconds, "webhookServer");
    milliseconds(shutdownDelay, "webhookServer: shutdownDelay");
    this.#options = options;
    this.#url = url;
    this.#install = options.install ?? false;
    this.#certificates = this.#hasSocket() ? (options.certificates ?? selfManaged()) : withoutCertificates;
    this.#dispatcher = new Dispatcher(timeoutSeconds * 1000);
  }

  get port(): number | undefined {
    return this.#port;
  }

  validate<K extends AnyKind>(kind: K, handler: Validate<K>, rules: WebhookRules = {}): WebhookServer {
    return this.#declare({ type: "validate", kind, run: handler as unknown as Validate<AnyKind> }, rules);
  }

  default<K extends AnyKind, const Result extends Completed<K> = undefined>(
    kind: K,
    handler: Default<K, Result> & Completing<K, Result>,
    rules: DefaultRules = {},
  ): WebhookServer {
    return this.#declare({ type: "default", kind, run: handler as unknown as Default<AnyKind> }, rules);
  }

  convert(kind: ConvertibleKind): WebhookServer {
    if (kind.versions.length < 2)
      throw new Error(`${kind.kind} has one version, ${kind.versions.join()}: add others with withVersion`);
    this.#dispatcher.addConversion(kind);
    this.#converted.push(kind);
    return this;
  }

  configurations(options: { readonly namespace?: string } = {}): readonly WebhookConfiguration[] {
    const namespace = this.#namespace(options.namespace);
    const { name, timeoutSeconds = 10 } = this.#options;
    return configurationsFor(this.#declared, {
      name,
      namespace,
      // An operator that is elsewhere, on a laptop say, need not be spared, unless it was
      // configured where it belongs.
      leaveOwnAlone: !this.#isElsewhere() || this.#toldNamespace() !== undefined,
      where: this.#where(namespace),
      timeoutSeconds,
    });
  }

  conversion(options: { readonly namespace?: string } = {}): ConversionWebhook {
    const where = this.#where(this.#namespace(options.namespace));
    if ("url" in where) return { url: `${where.url}${conversionPath}` };
    return { service: { ...where.service, path: conversionPath } };
  }

  readonly handle = (call: WebhookCall): Promise<WebhookAnswer> => this.#dispatcher.handle(call);

  get clusterRules(): readonly PolicyRule[] {
    if (!this.#injects()) return [];
    const { name } = this.#options;
    const install = this.#install;
    const kinds = this.configurations().map(({ kind }) => kind);
    const crds = this.#converted.map(({ plural, group }) => `${plural}.${group}`);
    return [...configurationRules(name, kinds, { install }), ...conversionRules(crds)];
  }

  get namespaceRules(): readonly PolicyRule[] {
    const secret = this.#certificates.secretFor(this.#options.name);
    return secret === undefined ? [] : authoritySecretRules(secret);
  }

  async start(context: RunnableContext): Promise<() => Promise<void>> {
    const { clock, log, metrics, random, client, cache } = context;
    const { name } = this.#options;
    const { host, port } = this.#lookAround(process.env);
    const install = this.#install;
    const { timeoutSeconds = 10, shutdownDelay = this.#isElsewhere() ? 0 : "10s" } = this.#options;
    this.#dispatcher.join({ clock, log }, metrics);
    const namespace = await this.#ownNamespace();
    const where = this.#where(namespace);
    const listener =
      port === false || !this.#hasSocket()
        ? undefined
        : await (await import("./listen.ts")).listen({
            port,
            host,
            clock,
            handle: this.handle,
            limitFor: (path) => this.#dispatcher.limitFor(path),
            closeMs: timeoutSeconds * 1000,
            log,
          });
    this.#port = listener?.port;
    if (listener)
      this.#drain = async () => {
        listener.drain();
        await sleep(clock, shutdownDelay);
        // Nobody is sent here any more. What was asked last has its time from now on: reconciles
        // may take most of the manager's to end. One that is called by URL is still called, by
        // what those reconciles write.
        if (!this.#isElsewhere()) await listener.close();
      };
    const detach = "service" in where ? this.#options.attach?.(where.service, this.handle) : undefined;
    let keeper: CertificateKeeper | undefined;
    context.addReadyCheck("webhook", () => (keeper ? keeper.fault() : "there is no certificate yet"));
    try {
      keeper = await this.#certificates.keep({
        name,
        namespace,
        ...subjectsOf(where),
        targets: await this.#targets(where, namespace),
        install,
        client,
        cache,
        clock,
        random,
        log,
        metrics,
        use: (pair) => listener?.use(pair),
      });
    } catch (error) {
      detach?.();
      await listener?.close();
      throw error;
    }
    log.info({ port: this.#port, paths: this.#dispatcher.paths }, "webhooks are served");
    return async () => {
      await keeper?.close();
      detach?.();
      await listener?.close();
    };
  }

  drain(): Promise<void> {
    return this.#drain();
  }

  #declare(handler: AdmissionHandler, rules: DefaultRules): WebhookServer {
    const { type, kind } = handler;
    if (rules.timeoutSeconds !== undefined) checkTimeout(rules.timeoutSeconds, `${type} ${kind.kind}`);
    this.#dispatcher.addHandler(pathOf(handler), handler);
    this.#declared.push({ type, kind, rules });
    return this;
  }

  #hasSocket(): boolean {
    return this.#options.port !== false && this.#options.attach === undefined;
  }

  async #targets(where: Where, namespace: string): Promise<readonly TrustTarget[]> {
    if (!this.#injects()) return [];
    const { configurationTarget, conversionTarget } = await import("./trust-target.ts");
    const how = { install: this.#install };
    return [
      ...this.configurations({ namespace }).map((one) => configurationTarget(one, where, how)),
      ...this.#converted.map((one) => conversionTarget(one, where, how)),
    ];
  }

  /** Whether the objects that lead the API server here are any of our business. */
  #injects(): boolean {
    return this.#install || this.#certificates.secretFor(this.#options.name) !== undefined;
  }

  #where(namespace: string): Where {
    const { service = {}, name } = this.#options;
    if (this.#url !== undefined) return { url: this.#url.replace(/\/+$/, "") };
    if (this.#service !== undefined) return { service: this.#service };
    return { service: { name: service.name ?? `${name}-webhook`, namespace, port: service.port ?? 443 } };
  }

  /**
   * Learns from the environment what the options leave open. Not before it starts: manifests that
   * are made from it must not depend on where they are made.
   *
   * @throws TypeError naming the variable whose value is invalid
   */
  #lookAround(env: NodeJS.ProcessEnv): { readonly host: string | undefined; readonly port: number | false } {
    const { host, port } = this.#options;
    const { url, service, address } = surroundingsFrom(env);
    if (!this.#isElsewhere() && this.#hasSocket() && (url ?? service) !== undefined) {
      this.#url = url;
      this.#service = service;
      this.#install = true;
    }
    if (port !== undefined || address === undefined) return { host, port: port ?? 9443 };
    return address === false ? { host, port: false } : { host: host ?? address.host, port: address.port };
  }

  /** Whether the API server calls it otherwise than by the Service of its own pods. */
  #isElsewhere(): boolean {
    return this.#url !== undefined || this.#service !== undefined;
  }

  #toldNamespace(): string | undefined {
    return this.#options.service?.namespace ?? process.env.POD_NAMESPACE;
  }

  #namespace(given: string | undefined): string {
    return given ?? this.#toldNamespace() ?? "default";
  }

  async #ownNamespace(): Promise<string> {
    const given = this.#toldNamespace();
    if (given !== undefined) return given;
    const mounted = await readFile(namespaceFile, "utf8").catch(() => "");
    return mounted.trim() || "default";
  }
}

function checkTimeout(seconds: number, subject: string): void {
  if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= 30))
    throw new RangeError(`${subject}: timeoutSeconds (${seconds}) must be a whole number from 1 to 30`);
}

/** The names that a certificate must be for. */
function subjectsOf(where: Where): {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
} {
  if ("service" in where) {
    const { name, namespace } = where.service;
    const host = `${name}.${namespace}`;
    return { dnsNames: [name, host, `${host}.svc`, `${host}.svc.cluster.local`], ipAddresses: [] };
  }
  const host = new URL(where.url).hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(host) === 0 ? { dnsNames: [host], ipAddresses: [] } : { dnsNames: [], ipAddresses: [host] };
}
