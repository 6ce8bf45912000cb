import { type BindAddress, bindAddressFrom } from "../manager/bind-address.ts";

/** A Service, wholly named. */
export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/**
 * What the environment says of where webhooks are called and served: for a program that runs
 * elsewhere than its manifests say.
 */
export interface WebhookEnvironment {
  /** WEBHOOK_URL: called by this URL. */
  readonly url: string | undefined;
  /** WEBHOOK_SERVICE: called by this Service, which leads here by some way. */
  readonly service: ServiceAddress | undefined;
  /** WEBHOOK_BIND_ADDRESS. */
  readonly address: BindAddress | false | undefined;
}

/** @throws TypeError naming the variable whose value is invalid */
export function surroundingsFrom(env: Readonly<Record<string, string | undefined>>): WebhookEnvironment {
  const { WEBHOOK_URL: url, WEBHOOK_SERVICE: service } = env;
  if (url) checkUrl(url, "WEBHOOK_URL");
  return {
    url: url || undefined,
    service: service ? serviceFrom(service) : undefined,
    address: bindAddressFrom(env, "WEBHOOK_BIND_ADDRESS"),
  };
}

/** @throws TypeError unless it is one that API servers call */
export function checkUrl(url: string, subject: string): void {
  if (URL.parse(url)?.protocol !== "https:")
    throw new TypeError(`${subject} ${JSON.stringify(url)} must start with https://`);
}

function serviceFrom(text: string): ServiceAddress {
  const [, namespace, name, port = "443"] = /^([a-z0-9-]+)\/([a-z0-9-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined)
    throw new TypeError(
      `WEBHOOK_SERVICE ${JSON.stringify(text)} must be like "namespace/name" or "namespace/name:443"`,
    );
  return { namespace, name, port: Number(port) };
}
