import { equal, type Json, type JsonObject } from "../json.ts";
import { field, hasAt, itemsAt, listAt, numberAt, objectAt, textAt, textsAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { Faults } from "../validation/faults.ts";
import { fill } from "../validation/fill.ts";
import {
  dnsLabel1035,
  dnsSubdomain,
  fullyQualifiedName,
  portNumber,
  qualifiedName,
} from "../validation/names.ts";
import { checkSelector } from "../validation/selectors.ts";
import type { KindDeclaration } from "./declaration.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

const scopes = ["*", "Cluster", "Namespaced"];

function strategyFor(kind: "mutating" | "validating"): Strategy {
  return {
    generation: true,
    unconditionalUpdate: false,
    setDefaults: (object) => {
      for (const hook of itemsAt(object, "webhooks")) {
        fill(hook, {
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          timeoutSeconds: 10,
          ...(kind === "mutating" ? { reinvocationPolicy: "Never" } : {}),
        });
        const service = objectAt(objectAt(hook, "clientConfig"), "service");
        if (hasAt(objectAt(hook, "clientConfig"), "service")) fill(service, { port: 443 });
        for (const rule of itemsAt(hook, "rules")) fill(rule, { scope: "*" });
      }
    },
    specChanged: (next, live) => !equal(next.webhooks ?? null, live.webhooks ?? null),
    validate: (object) => configurationFaults(object, kind).causes,
    validateUpdate: (next) => configurationFaults(next, kind).causes,
  };
}

const mutatingWebhookConfiguration = strategyFor("mutating");

const validatingWebhookConfiguration = strategyFor("validating");

function configurationFaults(object: JsonObject, kind: "mutating" | "validating"): Faults {
  const faults = new Faults();
  const names = new Set<string>();
  for (const [index, hook] of itemsAt(object, "webhooks").entries()) {
    const at = `webhooks[${index}]`;
    checkHook(faults, at, hook, kind);
    const name = textAt(hook, "name");
    if (name !== "" && names.has(name)) faults.duplicate(`${at}.name`, name);
    names.add(name);
  }
  return faults;
}

function checkHook(faults: Faults, at: string, hook: JsonObject, kind: "mutating" | "validating"): void {
  const name = textAt(hook, "name");
  if (name === "") faults.required(`${at}.name`);
  else faults.each(`${at}.name`, name, fullyQualifiedName(name));
  for (const [index, rule] of itemsAt(hook, "rules").entries())
    checkRule(faults, `${at}.rules[${index}]`, rule);
  if (hasAt(hook, "failurePolicy")) {
    faults.oneOf(`${at}.failurePolicy`, textAt(hook, "failurePolicy"), ["Fail", "Ignore"]);
  }
  if (hasAt(hook, "matchPolicy")) {
    faults.oneOf(`${at}.matchPolicy`, textAt(hook, "matchPolicy"), ["Equivalent", "Exact"]);
  }
  if (!hasAt(hook, "sideEffects")) {
    faults.required(`${at}.sideEffects`, "must specify one of None, NoneOnDryRun");
  } else faults.oneOf(`${at}.sideEffects`, textAt(hook, "sideEffects"), ["None", "NoneOnDryRun"]);
  const seconds = numberAt(hook, "timeoutSeconds");
  if (seconds !== undefined && (seconds < 1 || seconds > 30)) {
    faults.invalid(`${at}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds");
  }
  for (const part of ["namespaceSelector", "objectSelector"]) {
    if (hasAt(hook, part)) checkSelector(faults, `${at}.${part}`, objectAt(hook, part));
  }
  checkClient(faults, `${at}.clientConfig`, objectAt(hook, "clientConfig"));
  checkReviewVersions(faults, `${at}.admissionReviewVersions`, textsAt(hook, "admissionReviewVersions"));
  checkConditions(faults, `${at}.matchConditions`, itemsAt(hook, "matchConditions"));
  if (kind === "mutating" && hasAt(hook, "reinvocationPolicy")) {
    faults.oneOf(`${at}.reinvocationPolicy`, textAt(hook, "reinvocationPolicy"), ["IfNeeded", "Never"]);
  }
}

/**
 * Conditions by name and expression; whether an expression compiles is checked where it is
 * evaluated.
 */
export function checkConditions(faults: Faults, at: string, conditions: readonly JsonObject[]): void {
  if (conditions.length > 64) faults.tooMany(at, conditions.length, 64);
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const path = `${at}[${index}]`;
    if (textAt(condition, "expression").trim() === "") faults.required(`${path}.expression`);
    const name = textAt(condition, "name");
    if (name === "") faults.required(`${path}.name`);
    else {
      faults.each(`${path}.name`, name, qualifiedName(name));
      if (names.has(name)) faults.duplicate(`${path}.name`, name);
      names.add(name);
    }
  }
}

function checkReviewVersions(faults: Faults, at: string, versions: readonly string[]): void {
  if (versions.length === 0) {
    faults.required(at, "must specify one of v1, v1beta1");
    return;
  }
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) {
      faults.invalid(`${at}[${index}]`, version, "duplicate version");
      continue;
    }
    faults.each(`${at}[${index}]`, version, dnsLabel1035(version));
  }
  if (!versions.some((version) => version === "v1" || version === "v1beta1")) {
    faults.invalid(at, [...versions], "must include at least one of v1, v1beta1");
  }
}

/** A rule by which a request is matched. Policies have more of it than webhooks do. */
export function checkRule(faults: Faults, at: string, rule: JsonObject): void {
  const chosen = textsAt(rule, "operations");
  if (chosen.length === 0) faults.required(`${at}.operations`);
  if (chosen.length > 1 && chosen.includes("*")) {
    faults.invalid(`${at}.operations`, chosen, "if '*' is present, must not specify other operations");
  }
  for (const [index, operation] of chosen.entries()) {
    faults.oneOf(`${at}.operations[${index}]`, operation, operations);
  }
  const groups = textsAt(rule, "apiGroups");
  if (groups.length === 0) faults.required(`${at}.apiGroups`);
  if (groups.length > 1 && groups.includes("*")) {
    faults.invalid(`${at}.apiGroups`, groups, "if '*' is present, must not specify other API groups");
  }
  const versions = textsAt(rule, "apiVersions");
  if (versions.length === 0) faults.required(`${at}.apiVersions`);
  if (versions.length > 1 && versions.includes("*")) {
    faults.invalid(`${at}.apiVersions`, versions, "if '*' is present, must not specify other API versions");
  }
  for (const [index, version] of versions.entries()) {
    if (version === "") faults.required(`${at}.apiVersions[${index}]`);
  }
  checkResources(faults, `${at}.resources`, textsAt(rule, "resources"));
  if (hasAt(rule, "scope")) faults.oneOf(`${at}.scope`, textAt(rule, "scope"), scopes);
}

function checkResources(faults: Faults, at: string, resources: readonly string[]): void {
  if (resources.length === 0) faults.required(at);
  const whole = resources.filter((resource) => !resource.includes("/"));
  if (whole.includes("*") && whole.length > 1) {
    faults.invalid(
      at,
      [...resources],
      "if '*' is present, must not specify other resources without subresources",
    );
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    faults.invalid(at, [...resources], "if '*/*' is present, must not specify other resources");
  }
  const before = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    if (resource === "") faults.required(`${at}[${index}]`);
    const [name, sub] = resource.split("/");
    before.add(resource);
    if (sub !== undefined && sub !== "*" && before.has(`${name}/*`)) {
      faults.invalid(`${at}[${index}]`, resource, `if '${name}/*' is present, must not specify ${resource}`);
    }
  }
}

function checkClient(faults: Faults, at: string, client: JsonObject): void {
  const [byUrl, byService] = [hasAt(client, "url"), hasAt(client, "service")];
  if (byUrl === byService) {
    faults.required(at, "exactly one of url or service is required");
    return;
  }
  if (byUrl) checkUrl(faults, `${at}.url`, textAt(client, "url"));
  else checkService(faults, `${at}.service`, objectAt(client, "service"));
}

const urlForm = "desired format: https://host[/path]";

function checkUrl(faults: Faults, at: string, url: string): void {
  if (!URL.canParse(url)) {
    faults.required(at, `url must be a valid URL: ${url}; ${urlForm}`);
    return;
  }
  const parsed = new URL(url);
  const scheme = parsed.protocol.slice(0, -1);
  if (scheme !== "https") {
    faults.invalid(at, scheme, `'https' is the only allowed URL scheme; ${urlForm}`);
  }
  if (parsed.host === "") faults.invalid(at, parsed.host, `host must be specified; ${urlForm}`);
  if (parsed.username !== "" || parsed.password !== "") {
    faults.invalid(at, parsed.username, "user information is not permitted in the URL");
  }
  if (url.includes("#")) faults.invalid(at, parsed.hash.slice(1), "fragments are not permitted in the URL");
  if (url.includes("?"))
    faults.invalid(at, parsed.search.slice(1), "query parameters are not permitted in the URL");
}

function checkService(faults: Faults, at: string, service: JsonObject): void {
  for (const part of ["name", "namespace"])
    if (textAt(service, part) === "") faults.required(`${at}.${part}`);
  const port = numberAt(service, "port") ?? 0;
  for (const why of portNumber(port)) faults.invalid(`${at}.port`, port, `port is not valid: ${why}`);
  const path = field(service, "path");
  if (typeof path !== "string") return;
  if (path === "/" || path === "") return;
  if (path === "//") {
    faults.invalid(`${at}.path`, path, "segment[0] may not be empty");
    return;
  }
  if (!path.startsWith("/")) faults.invalid(`${at}.path`, path, "must start with a '/'");
  const inner = path.slice(1).replace(/\/$/, "");
  for (const [index, segment] of inner.split("/").entries()) {
    if (segment === "") {
      faults.invalid(`${at}.path`, path, `segment[${index}] may not be empty`);
      continue;
    }
    for (const why of dnsSubdomain(segment)) faults.invalid(`${at}.path`, path, `segment[${index}]: ${why}`);
  }
}

/** A row of either kind of webhook configuration. */
function webhookConfigurationCells(of: JsonObject, now: number): Json[] {
  return [name(of), listAt(of, "webhooks").length, age(of, now)];
}

export const mutatingWebhookConfigurationKind = {
  group: "admissionregistration.k8s.io",
  kind: "MutatingWebhookConfiguration",
  strategy: mutatingWebhookConfiguration,
  cells: webhookConfigurationCells,
} satisfies KindDeclaration;

export const validatingWebhookConfigurationKind = {
  group: "admissionregistration.k8s.io",
  kind: "ValidatingWebhookConfiguration",
  strategy: validatingWebhookConfiguration,
  cells: webhookConfigurationCells,
} satisfies KindDeclaration;
