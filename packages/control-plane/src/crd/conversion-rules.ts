import { append } from "../append.ts";
import type { JsonObject } from "../json.ts";
import { field, presentObjectAt, textAt, textsAt } from "../json-fields.ts";
import { forbiddenValue, invalidValue, notSupported, required } from "../schema/causes.ts";
import { dnsLabelFault } from "../schema/embedded.ts";
import { keyPath } from "../schema/paths.ts";
import type { Cause } from "../status.ts";

const PATH = "spec.conversion";

/**
 * What is wrong with `spec.conversion`. Fields are named as the API server names them: without the
 * `webhook` level.
 */
export function conversionFaults(conversion: JsonObject | undefined): Cause[] {
  if (conversion === undefined) return [];
  const causes: Cause[] = [];
  const strategy = textAt(conversion, "strategy");
  if (strategy === "") causes.push(required(`${PATH}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook") {
    causes.push(notSupported(`${PATH}.strategy`, strategy, ["None", "Webhook"]));
  }
  const webhook = presentObjectAt(conversion, "webhook");
  const client = presentObjectAt(webhook, "clientConfig");
  const versions = textsAt(webhook, "conversionReviewVersions");
  const clientPath = `${PATH}.webhookClientConfig`;
  const versionsPath = `${PATH}.conversionReviewVersions`;
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (client !== undefined) causes.push(forbiddenValue(clientPath, detail));
    if (versions.length > 0) causes.push(forbiddenValue(versionsPath, detail));
    return causes;
  }
  if (client === undefined) {
    causes.push(required(clientPath, "required when strategy is set to Webhook"));
  } else {
    const url = field(client, "url");
    const service = presentObjectAt(client, "service");
    if ((typeof url === "string") === (service !== undefined)) {
      causes.push(required(clientPath, "exactly one of url or service is required"));
    } else if (typeof url === "string") {
      append(causes, urlFaults(url, `${clientPath}.url`));
    } else if (service !== undefined) {
      append(causes, serviceFaults(service, `${clientPath}.service`));
    }
  }
  if (versions.length === 0) return [...causes, required(versionsPath)];
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) {
      causes.push(invalidValue(keyPath(versionsPath, index), version, "duplicate version"));
      continue;
    }
    const fault = dnsLabelFault(version);
    if (fault !== "") causes.push(invalidValue(keyPath(versionsPath, index), version, fault));
  }
  if (!versions.includes("v1") && !versions.includes("v1beta1")) {
    causes.push(invalidValue(versionsPath, versions, "must include at least one of v1, v1beta1"));
  }
  return causes;
}

const FORM = "desired format: https://host[/path]";

function urlFaults(url: string, path: string): Cause[] {
  const parsed = URL.parse(url);
  const causes: Cause[] = [];
  const scheme =
    parsed === null ? (/^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url)?.[1] ?? "") : parsed.protocol.slice(0, -1);
  if (scheme !== "https") {
    causes.push(invalidValue(path, scheme, `'https' is the only allowed URL scheme; ${FORM}`));
  }
  if (parsed === null || parsed.host === "") {
    causes.push(invalidValue(path, "", `host must be specified; ${FORM}`));
    return causes;
  }
  const user = parsed.password === "" ? parsed.username : `${parsed.username}:${parsed.password}`;
  if (user !== "") causes.push(invalidValue(path, user, "user information is not permitted in the URL"));
  if (parsed.hash !== "") {
    causes.push(invalidValue(path, parsed.hash.slice(1), "fragments are not permitted in the URL"));
  }
  if (parsed.search !== "") {
    causes.push(invalidValue(path, parsed.search.slice(1), "query parameters are not permitted in the URL"));
  }
  return causes;
}

function serviceFaults(service: JsonObject, path: string): Cause[] {
  const causes: Cause[] = [];
  for (const name of ["name", "namespace"]) {
    if (textAt(service, name) === "") causes.push(required(`${path}.${name}`));
  }
  const port = field(service, "port");
  if (typeof port === "number" && (port < 1 || port > 65535)) {
    const detail = "port is not valid: must be between 1 and 65535, inclusive";
    causes.push(invalidValue(`${path}.port`, port, detail));
  }
  const route = field(service, "path");
  if (typeof route === "string") append(causes, routeFaults(route, `${path}.path`));
  return causes;
}

function routeFaults(route: string, path: string): Cause[] {
  if (route === "" || route === "/") return [];
  const causes: Cause[] = [];
  const fault = (detail: string): void => {
    causes.push(invalidValue(path, route, detail));
  };
  if (!route.startsWith("/")) fault("must start with a '/'");
  for (const [index, segment] of route.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (segment === "") fault(`segment[${index}] may not be empty`);
  }
  return causes;
}
