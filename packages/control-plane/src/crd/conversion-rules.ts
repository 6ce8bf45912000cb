import type { JsonObject } from "../json.ts";
import { forbiddenValue, invalidValue, notSupported, required } from "../schema/causes.ts";
import { dnsLabelFault } from "../schema/embedded.ts";
import { goQuote } from "../schema/go-text.ts";
import { field, keyPath } from "../schema/paths.ts";
import type { Cause } from "../status.ts";
import { objectAt, textAt, textsAt } from "./definition.ts";

const PATH = "spec.conversion";

/** What is wrong with `spec.conversion`. Fields are named as the API server names them: without the `webhook` level. */
export function conversionFaults(conversion: JsonObject | undefined): Cause[] {
  if (conversion === undefined) return [];
  const causes: Cause[] = [];
  const strategy = textAt(conversion, "strategy");
  if (strategy === "") causes.push(required(`${PATH}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook") {
    causes.push(notSupported(`${PATH}.strategy`, strategy, ["None", "Webhook"]));
  }
  const webhook = objectAt(conversion, "webhook");
  const client = objectAt(webhook, "clientConfig");
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
    const service = objectAt(client, "service");
    if ((typeof url === "string") === (service !== undefined)) {
      causes.push(required(clientPath, "exactly one of url or service is required"));
    } else if (typeof url === "string") {
      causes.push(...urlFaults(url, `${clientPath}.url`));
    } else if (service !== undefined) {
      causes.push(...serviceFaults(service, `${clientPath}.service`));
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

function urlFaults(url: string, path: string): Cause[] {
  const form = "https://host[:port]/path";
  const parsed = URL.parse(url);
  if (parsed === null) {
    const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(url) ? "" : goQuote("");
    return [
      invalidValue(
        path,
        url,
        scheme === ""
          ? `host must be specified; desired format: ${form}`
          : `'https' is the only allowed URL scheme; desired format: ${form}`,
      ),
    ];
  }
  const causes: Cause[] = [];
  if (parsed.protocol !== "https:") {
    causes.push(invalidValue(path, url, `'https' is the only allowed URL scheme; desired format: ${form}`));
  }
  if (parsed.host === "") {
    causes.push(invalidValue(path, url, `host must be specified; desired format: ${form}`));
  }
  if (parsed.username !== "" || parsed.password !== "") {
    causes.push(invalidValue(path, url, "user information is not permitted in the URL"));
  }
  if (parsed.hash !== "") causes.push(invalidValue(path, url, "fragments are not permitted in the URL"));
  if (parsed.search !== "") {
    causes.push(invalidValue(path, url, "query parameters are not permitted in the URL"));
  }
  return causes;
}

function serviceFaults(service: JsonObject, path: string): Cause[] {
  const causes: Cause[] = [];
  if (textAt(service, "name") === "") causes.push(required(`${path}.name`, "service name is required"));
  if (textAt(service, "namespace") === "") {
    causes.push(required(`${path}.namespace`, "service namespace is required"));
  }
  const port = field(service, "port");
  if (typeof port === "number" && (port < 1 || port > 65535)) {
    const detail = "port is not valid: must be between 1 and 65535, inclusive";
    causes.push(invalidValue(`${path}.port`, port, detail));
  }
  const route = field(service, "path");
  if (typeof route === "string" && !route.startsWith("/")) {
    causes.push(invalidValue(`${path}.path`, route, "must start with a '/'"));
  }
  return causes;
}
