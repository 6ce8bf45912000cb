import type { Agent } from "node:https";
import type { Clock } from "@windlass/clock";
import { isObject, type Json, type JsonObject, stringify, textOf } from "../../json.ts";
import { ParseError, parseJson } from "../../schema/parse-json.ts";
import { answerFault, kindFault } from "./answer-faults.ts";
import { type ServiceReference, type Services, UnresolvedService, type WebhookHandler } from "./services.ts";
import { dialFault } from "./transport-faults.ts";

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
interface Exchange {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * Calls webhooks: over HTTPS with connections that are kept, or in this process. Everything that goes wrong is a `CallError`
 * with the message that the real server gives.
 */
export class WebhookClient {
  readonly #clock: Clock;
  readonly #services: Services;
  readonly #agents = new Map<string, Agent>();

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
    const body = stringify(review);
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
      if (error instanceof CallError) throw error;
      const why = given.signal.aborted ? "context deadline exceeded" : faultText(error, config);
      throw new CallError(`Post "${shown(config, target)}": ${why}`);
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

  async #exchange(
    config: ClientConfig,
    target: URL,
    call: { headers: Record<string, string>; body: string; signal: AbortSignal },
  ): Promise<Exchange> {
    if ("url" in config) return await this.#overNetwork(config, target, target.hostname, call);
    const resolved = this.#services.resolve(config.service);
    if (typeof resolved === "function") return await inProcess(resolved, target, call);
    const dialled = new URL(target);
    dialled.protocol = resolved.protocol;
    dialled.host = resolved.host;
    if (resolved.port === "") dialled.port = "";
    if (resolved.pathname !== "/") dialled.pathname = resolved.pathname.replace(/\/$/, "") + target.pathname;
    const { service } = config;
    return await this.#overNetwork(config, dialled, hostOf(service), call);
  }

  async #overNetwork(
    config: ClientConfig,
    target: URL,
    serverName: string,
    call: { headers: Record<string, string>; body: string; signal: AbortSignal },
  ): Promise<Exchange> {
    const { send } = await import("./send.ts");
    const agent =
      target.protocol === "https:" ? await this.#agent(config.authorities, serverName) : undefined;
    return await send({ ...call, target, agent });
  }

  async #agent(authorities: string | undefined, serverName: string): Promise<Agent> {
    const key = `${serverName}\n${authorities ?? ""}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      const { Agent: HttpsAgent } = await import("node:https");
      agent = new HttpsAgent({
        keepAlive: true,
        timeout: 90_000,
        ALPNProtocols: ["http/1.1"],
        servername: /^[\d.]+$|:/.test(serverName) ? "" : serverName,
        ...(authorities === undefined ? {} : { ca: authorities }),
      });
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/** Reads a `clientConfig`. @throws CallError when it names neither a URL nor a service */
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
  if ("url" in config) return new URL(config.url);
  const { service } = config;
  const target = new URL(`https://${hostOf(service)}:${service.port}`);
  target.pathname = service.path;
  return target;
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

async function inProcess(
  handler: WebhookHandler,
  target: URL,
  call: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<Exchange> {
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

/** Answers may be YAML, which whatever does not look like JSON is taken for. */
async function parseEither(body: string): Promise<Json> {
  if (/^\s*["{[]/.test(body)) return parseJson(body).value;
  const { parseYaml } = await import("../../schema/parse-yaml.ts");
  return parseYaml(body).value;
}

function faultText(error: unknown, config: ClientConfig): string {
  if (error instanceof UnresolvedService) return error.message;
  return dialFault(error, "url" in config ? new URL(config.url).hostname : hostOf(config.service));
}
