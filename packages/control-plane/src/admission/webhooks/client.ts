import { X509Certificate } from "node:crypto";
import type { Agent } from "node:https";
import { posix } from "node:path";
import type { PeerCertificate } from "node:tls";
import { splitBundle } from "@windlass/certificates";
import type { Clock } from "@windlass/clock";
import { bodyLimit } from "../../http/body.ts";
import { isLarge, isObject, type Json, type JsonObject, stringify, textOf } from "../../json.ts";
import { stringifyInSteps } from "../../json-text.ts";
import { ParseError, parseJsonInSteps } from "../../schema/parse-json.ts";
import { finish } from "../../steps.ts";
import { answerFault, kindFault } from "./answer-faults.ts";
import type { Response } from "./send.ts";
import { type ServiceReference, type Services, UnresolvedService, type WebhookHandler } from "./services.ts";
import { detailOf, dialFault } from "./transport-faults.ts";

/** Where a webhook is: `clientConfig` of webhooks and of conversions. */
export type ClientConfig = {
  /** PEM of the authorities to trust. @default the machine's own */
  readonly authorities?: string;
} & ({ readonly url: string } | { readonly service: ServiceReference & { readonly path: string } });

/** What came back from a webhook could not be used. The message is in the real server's words. */
export class CallError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CallError";
  }
}

export interface WebhookClientOptions {
  readonly clock: Clock;
  readonly services: Services;
}

/** One exchange with a webhook, below JSON. */
type Exchange = Pick<Response, "status" | "contentType" | "body">;

/** What is sent to a webhook. */
interface Call {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** One request on the way to an answer: redirects lead to others. */
interface Hop {
  readonly method: "POST" | "GET";
  /** Where it is addressed by its name. */
  readonly target: URL;
  /** The address as messages name it. */
  readonly shown: string;
}

/** A request that got no answer. */
class HopError extends Error {
  constructor({ method, shown }: Pick<Hop, "method" | "shown">, why: string) {
    super(`${method === "POST" ? "Post" : "Get"} "${shown}": ${why}`);
    this.name = "HopError";
  }
}

/** The most requests of a chain of redirects. */
const mostHops = 10;

/**
 * Calls webhooks: over HTTPS with connections that are kept, or in this process. Everything that
 * goes wrong is a `CallError` with the message that the real server gives.
 */
export class WebhookClient {
  readonly #clock: Clock;
  readonly #services: Services;
  readonly #agents = new Map<string, Agent>();
  /** By the same keys: where OpenSSL is stricter than Go. */
  readonly #lenient = new Set<string>();

  constructor({ clock, services }: WebhookClientOptions) {
    this.#clock = clock;
    this.#services = services;
  }

  /**
   * Posts a review and returns the review that is answered.
   *
   * @param options.timeoutSeconds is also told to the webhook, in the query
   * @throws CallError
   */
  async post(
    config: ClientConfig,
    review: JsonObject,
    options: { readonly userAgent: string; readonly timeoutSeconds?: number },
  ): Promise<JsonObject> {
    const { timeoutSeconds, userAgent } = options;
    const target = targetOf(config);
    if (timeoutSeconds !== undefined) target.searchParams.set("timeout", `${timeoutSeconds}s`);
    const body = isLarge(review) ? await finish(stringifyInSteps(review)) : stringify(review);
    const headers = {
      "user-agent": userAgent,
      accept: "application/json, */*",
      "content-type": "application/json",
      "accept-encoding": "gzip",
    };
    const given = new AbortController();
    const cancel =
      timeoutSeconds === undefined
        ? () => undefined
        : this.#clock.schedule(timeoutSeconds * 1_000, () => given.abort());
    try {
      const exchange = await this.#exchange(config, target, { headers, body, signal: given.signal });
      return await readReview(exchange, review);
    } catch (error) {
      if (error instanceof HopError) throw new CallError(error.message);
      throw error;
    } finally {
      cancel();
      given.abort();
    }
  }

  /** Ends the connections that are kept. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #exchange(config: ClientConfig, target: URL, call: Call): Promise<Exchange> {
    let hop: Hop = { method: "POST", target, shown: shown(config, target) };
    for (let hops = 1; ; hops++) {
      const response = await this.#request(config, hop, target, call);
      const location = "location" in response ? response.location : undefined;
      if (location === undefined || !redirects.has(response.status)) return response;
      if (hops === mostHops) {
        throw new HopError({ method: hop.method, shown: location }, `stopped after ${mostHops} redirects`);
      }
      hop = nextHop(hop, response.status, location);
    }
  }

  /** @param first the webhook's own URL; redirects may lead to other hosts */
  async #request(config: ClientConfig, hop: Hop, first: URL, call: Call): Promise<Response | Exchange> {
    const isService = "service" in config && hop.target.host === first.host;
    let resolved: URL | WebhookHandler = hop.target;
    try {
      if (isService) resolved = this.#services.resolve(config.service);
      if (typeof resolved === "function") return await inProcess(resolved, hop.target, call);
      const dialled = isService ? dialledTo(resolved, hop.target) : resolved;
      return await this.#overNetwork(config, hop, dialled, call);
    } catch (error) {
      if (error instanceof HopError || error instanceof CallError || error instanceof RootsError) throw error;
      const why = call.signal.aborted
        ? "context deadline exceeded"
        : error instanceof UnresolvedService
          ? error.message
          : String(error instanceof Error ? error.message : error);
      throw new HopError(hop, why);
    }
  }

  async #overNetwork(config: ClientConfig, hop: Hop, dialled: URL, call: Call): Promise<Response> {
    const { BodyError, send } = await import("./send.ts");
    const host = "service" in config ? hostOf(config.service) : plainHost(hop.target);
    const isSecure = dialled.protocol === "https:";
    const key = `${host}\n${config.authorities ?? ""}`;
    const agent = isSecure ? await this.#agent(key, config.authorities, host) : undefined;
    const { method } = hop;
    try {
      return await send({
        ...call,
        // A Service is asked by its own name, wherever it is.
        headers:
          "service" in config && dialled !== hop.target
            ? { ...call.headers, host: hop.target.host }
            : call.headers,
        method,
        body: method === "POST" ? call.body : "",
        target: dialled,
        agent,
      });
    } catch (error) {
      if (error instanceof BodyError) {
        const why = call.signal.aborted ? "context deadline exceeded" : error.message;
        throw new CallError(
          `unexpected error when reading response body. Please retry. Original error: ${why}`,
        );
      }
      if (call.signal.aborted) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === "INVALID_PURPOSE" && config.authorities !== undefined && !this.#lenient.has(key)) {
        this.#lenient.add(key);
        this.#agents.delete(key);
        return await this.#overNetwork(config, hop, dialled, call);
      }
      const { peerCertificate, peerGreeting } = await import("./peer.ts");
      const detail = isSecure ? detailOf(error) : undefined;
      const peer =
        detail === "certificate"
          ? await peerCertificate(dialled, serverNameOf(host))
          : detail === "greeting"
            ? await peerGreeting(dialled)
            : {};
      throw new HopError(
        hop,
        dialFault(error, {
          host,
          authorities: config.authorities && certificatesIn(config.authorities),
          now: Date.now(),
          peer,
        }),
      );
    }
  }

  async #agent(key: string, authorities: string | undefined, host: string): Promise<Agent> {
    let agent = this.#agents.get(key);
    if (!agent) {
      const [{ Agent: HttpsAgent }, { checkServerIdentity, DEFAULT_CIPHERS }] = await Promise.all([
        import("node:https"),
        import("node:tls"),
      ]);
      // Common names have not counted for years, but Node still takes them.
      const nameFault = (name: string, certificate: PeerCertificate) =>
        certificate.subjectaltname === undefined
          ? Object.assign(new Error("no names"), {
              code: "ERR_TLS_CERT_ALTNAME_INVALID",
              cert: certificate,
            })
          : checkServerIdentity(name, certificate);
      const options = {
        keepAlive: true,
        timeout: 90_000,
        ALPNProtocols: ["http/1.1"],
        servername: serverNameOf(host),
        // RSA of 1,024 bits is enough for Go, and SHA-1 is not: that is OpenSSL's first level.
        ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=1`,
        // The trusted bundle may be the serving certificate itself, no matter who signed it.
        allowPartialTrustChain: true,
        checkServerIdentity: nameFault,
        ...(authorities === undefined ? {} : { ca: certificatesIn(authorities) }),
      };
      if (this.#lenient.has(key)) {
        const { LenientAgent } = await import("./lenient-agent.ts");
        const roots = certificatesIn(authorities ?? "");
        agent = new LenientAgent(options, { roots, host });
      } else agent = new HttpsAgent(options);
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

const redirects = new Set([301, 302, 303, 307, 308]);

/** Where a redirect leads. Most make a GET of it, without a body. @throws HopError */
function nextHop(hop: Hop, status: number, location: string): Hop {
  const target = URL.parse(location, hop.target.href);
  if (target === null) {
    const quoted = JSON.stringify(location);
    const why = /\[[^\]]*$/.test(location) ? "missing ']' in host" : "invalid URL";
    throw new HopError(hop, `failed to parse Location header ${quoted}: parse ${quoted}: ${why}`);
  }
  const method = status === 307 || status === 308 ? hop.method : "GET";
  return { method, target, shown: target.href };
}

/** What is to be called for a service, where its calls go to. */
function dialledTo(base: URL, target: URL): URL {
  const dialled = new URL(target);
  dialled.protocol = base.protocol;
  dialled.host = base.host;
  if (base.port === "") dialled.port = "";
  if (base.pathname !== "/") dialled.pathname = base.pathname.replace(/\/$/, "") + target.pathname;
  return dialled;
}

function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** IP addresses are not sent as SNI. */
function serverNameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}

/**
 * The certificates of a bundle, without what else is in it or is damaged.
 *
 * @throws RootsError if there are none
 */
function certificatesIn(bundle: string): string {
  const blocks = bundle.match(/-----BEGIN ([A-Z ]+)-----\s[\s\S]*?-----END \1-----/g);
  if (blocks === null) throw new RootsError("unable to parse bytes as PEM block");
  const certificates = splitBundle(bundle).filter(isCertificate);
  if (certificates.length === 0) throw new RootsError("no valid certificate authority data seen");
  return certificates.join("\n");
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0;
  } catch {
    return false;
  }
}

/** The bundle of a webhook has nothing to trust in it: it is not even called. */
export class RootsError extends Error {
  constructor(why: string) {
    super(`could not get REST client: unable to load root certificates: ${why}`);
    this.name = "RootsError";
  }
}

/**
 * Reads a `clientConfig`.
 *
 * @throws CallError when it names neither a URL nor a service
 */
export function readClientConfig(config: Json | undefined): ClientConfig {
  const { url, service, caBundle } = isObject(config) ? config : {};
  const pem = textOf(caBundle) === "" ? "" : Buffer.from(textOf(caBundle), "base64").toString("utf8").trim();
  const trust = pem === "" ? {} : { authorities: pem };
  if (isObject(service)) {
    const port = typeof service.port === "number" ? service.port : 443;
    const { namespace, name, path } = service;
    return {
      ...trust,
      service: { namespace: textOf(namespace), name: textOf(name), port, path: textOf(path) },
    };
  }
  if (typeof url !== "string" || url === "") {
    throw new CallError("webhook configuration must have either service or URL");
  }
  return { ...trust, url };
}

function targetOf(config: ClientConfig): URL {
  const target = new URL(
    "url" in config ? config.url : `https://${hostOf(config.service)}:${config.service.port}`,
  );
  const path = "url" in config ? target.pathname : config.service.path;
  // As Go joins paths: unescaped, and without what is empty or goes back.
  target.pathname = posix
    .join("/", unescaped(path))
    .replace(/(?<=.)\/$/, "")
    .replaceAll("%", "%25");
  return target;
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The name that a service's certificate must be for. */
function hostOf({ name, namespace }: ServiceReference): string {
  return `${name}.${namespace}.svc`;
}

/** The address as messages name it. A service's port is shown even where it is the usual one. */
function shown(config: ClientConfig, target: URL): string {
  if ("url" in config || target.port !== "") return target.href;
  return target.href.replace(target.host, `${target.host}:443`);
}

async function inProcess(handler: WebhookHandler, target: URL, call: Call): Promise<Exchange> {
  const path = `${target.pathname}${target.search}`;
  const given = new Promise<never>((_resolve, reject) => {
    call.signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
  const answer = await Promise.race([Promise.resolve(handler({ ...call, path })), given]);
  return {
    status: answer.status ?? 200,
    contentType: answer.headers?.["content-type"] ?? "application/json",
    body: answer.body,
  };
}

async function readReview({ status, contentType, body }: Exchange, sent: JsonObject): Promise<JsonObject> {
  let value: Json | undefined;
  try {
    value = body === "" ? undefined : await parseEither(body);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    if (status >= 200 && status <= 206) {
      throw new CallError(`couldn't get version/kind; json parse error: ${error.message}`);
    }
  }
  const fault = answerFault({ status, contentType, body, value }) ?? kindFault(value as JsonObject, sent);
  if (fault !== undefined) throw new CallError(fault);
  return value as JsonObject;
}

/** YAML takes long to read. What is longer than a request may be is none that was meant. */
const longestYaml = bodyLimit;

/** Answers may be YAML, which everything that does not look like JSON is read as. */
async function parseEither(body: string): Promise<Json> {
  if (/^\s*["{[]/.test(body)) return (await finish(parseJsonInSteps(body))).value;
  if (body.length > longestYaml) throw new ParseError("yaml: document is too long");
  const { parseYamlInSteps } = await import("../../schema/parse-yaml.ts");
  return (await finish(parseYamlInSteps(body))).value;
}
