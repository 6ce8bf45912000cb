import { isObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import { type Store, storageKey } from "../../storage/store.ts";

/** A call to a webhook that lives in this process. */
export interface WebhookCall {
  /** Path and query, as they would be sent: `/validate?timeout=10s`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The review, as JSON text. */
  readonly body: string;
  /** Aborted when the caller has given up. */
  readonly signal: AbortSignal;
}

/** What a webhook answered. */
export interface WebhookAnswer {
  /** @default 200 */
  readonly status?: number;
  /** Names in lower case. @default a content type of JSON */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A webhook that lives in this process: what a Service stands for when there is no network. */
export type WebhookHandler = (call: WebhookCall) => WebhookAnswer | Promise<WebhookAnswer>;

/** Where calls to a Service go: to a base URL, or to a function. */
export type ServiceTarget = string | URL | WebhookHandler;

/** A Service that a webhook's `clientConfig` names. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** A Service that cannot be resolved. The message is the real server's where it has one. */
export class UnresolvedService extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnresolvedService";
  }
}

/**
 * Stands in for the cluster network: there are no pods behind the Services of this control plane,
 * so calls to a Service are routed explicitly.
 */
export class Services {
  readonly #store: Store;
  readonly #targets = new Map<string, URL | WebhookHandler>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Routes calls to a Service's port. The Service itself need not exist.
   *
   * @returns removes the route
   */
  bind(reference: ServiceReference, target: ServiceTarget): () => void {
    const key = keyFor(reference);
    const resolved = typeof target === "function" ? target : new URL(target);
    this.#targets.set(key, resolved);
    return () => {
      if (this.#targets.get(key) === resolved) this.#targets.delete(key);
    };
  }

  /** @throws UnresolvedService */
  resolve(reference: ServiceReference): URL | WebhookHandler {
    const target = this.#targets.get(keyFor(reference));
    if (target) return target;
    const { namespace, name, port } = reference;
    const service = this.#store.get("services", storageKey(namespace, name))?.object;
    if (!service) throw new UnresolvedService(`service ${JSON.stringify(name)} not found`);
    const type = textOf(valueAt(service, "spec", "type"));
    if (type === "ExternalName")
      throw new UnresolvedService(`unsupported service type ${JSON.stringify(type)}`);
    if (valueAt(service, "spec", "clusterIP") === "None") {
      throw new UnresolvedService('cannot route to service with ClusterIP "None"');
    }
    const ports = valueAt(service, "spec", "ports");
    const known = Array.isArray(ports) && ports.some((one) => isObject(one) && one.port === port);
    if (!known) {
      throw new UnresolvedService(`no service port ${port} found for service ${JSON.stringify(name)}`);
    }
    // Where pods are processes of this machine, the Service takes connections itself.
    const address = textOf(valueAt(service, "spec", "clusterIP"));
    if (address.startsWith("127.")) return new URL(`https://${address}:${port}`);
    throw new UnresolvedService(
      `no endpoints available for service ${JSON.stringify(name)}: the embedded control plane has no network, say where its calls go with bindService(${JSON.stringify(namespace)}, ${JSON.stringify(name)}, ${port}, …)`,
    );
  }
}

function keyFor({ namespace, name, port }: ServiceReference): string {
  return `${namespace}/${name}:${port}`;
}
