import { type Json, type JsonObject, textOf } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, textAt } from "../../json-fields.ts";
import { nextTurn, type Steps, TurnBudget } from "../../steps.ts";
import { checkRequirements } from "../../validation/amounts.ts";
import type { Faults } from "../../validation/faults.ts";
import {
  dataKey,
  dnsLabel,
  dnsSubdomain,
  environmentVariable,
  portName,
  portNumber,
  qualifiedName,
} from "../../validation/names.ts";
import { checkLifecycle, checkProbes } from "./probes.ts";
import { checkContainerSecurity } from "./security-context.ts";
import { checkMounts, type Volumes } from "./volume-mounts.ts";

/** What of a pod its containers are checked against. */
export interface PodSurroundings {
  readonly volumes: Volumes;
  readonly claims: readonly string[];
  readonly grace: number;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
}

const pullPolicies = ["Always", "IfNotPresent", "Never"];

/** So many containers are checked in some 10 ms. */
const containersPerTurn = 4_000;

export function* checkContainers(
  faults: Faults,
  at: string,
  spec: JsonObject,
  around: PodSurroundings,
): Steps<void> {
  const containers = itemsAt(spec, "containers");
  if (containers.length === 0) faults.required(`${at}.containers`);
  const names = new Set<string>();
  const budget = new TurnBudget(containersPerTurn);
  for (const [index, container] of containers.entries()) {
    if (budget.spend(1)) yield nextTurn;
    const path = `${at}.containers[${index}]`;
    checkContainer(faults, path, container, around);
    checkName(faults, path, container, names);
    checkLifecycle(faults, `${path}.lifecycle`, container, around.grace);
    checkProbes(faults, path, container, around.grace);
  }
  for (const [index, container] of itemsAt(spec, "initContainers").entries()) {
    if (budget.spend(1)) yield nextTurn;
    checkInitContainer(faults, `${at}.initContainers[${index}]`, container, names, around);
  }
  checkHostPorts(faults, at, spec);
  yield* checkEphemeral(faults, at, spec, names, around);
}

function checkName(faults: Faults, at: string, container: JsonObject, names: Set<string>): void {
  const name = textAt(container, "name");
  if (name === "") return;
  if (names.has(name)) faults.duplicate(`${at}.name`, name);
  names.add(name);
}

function checkInitContainer(
  faults: Faults,
  at: string,
  container: JsonObject,
  names: Set<string>,
  around: PodSurroundings,
): void {
  checkContainer(faults, at, container, around);
  checkName(faults, at, container, names);
  if (textAt(container, "restartPolicy") === "Always") {
    checkLifecycle(faults, `${at}.lifecycle`, container, around.grace);
    checkProbes(faults, at, container, around.grace);
    return;
  }
  for (const part of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
    if (hasAt(container, part)) {
      faults.forbidden(`${at}.${part}`, "may not be set for init containers without restartPolicy=Always");
    }
  }
}

/** Fields that ephemeral containers may not have. */
const notEphemeral = [
  "ports",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
  "resizePolicy",
];

function* checkEphemeral(
  faults: Faults,
  at: string,
  spec: JsonObject,
  names: Set<string>,
  around: PodSurroundings,
): Steps<void> {
  const others = new Set(
    [...itemsAt(spec, "containers"), ...itemsAt(spec, "initContainers")].map((container) =>
      textAt(container, "name"),
    ),
  );
  const budget = new TurnBudget(containersPerTurn);
  for (const [index, container] of itemsAt(spec, "ephemeralContainers").entries()) {
    if (budget.spend(1)) yield nextTurn;
    const path = `${at}.ephemeralContainers[${index}]`;
    checkContainer(faults, path, container, around);
    checkName(faults, path, container, names);
    const target = textAt(container, "targetContainerName");
    if (target !== "" && !others.has(target)) faults.notFound(`${path}.targetContainerName`, target);
    for (const part of notEphemeral) {
      const value = field(container, part);
      if (value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)) {
        faults.forbidden(`${path}.${part}`, "cannot be set for an Ephemeral Container");
      }
    }
    if (Object.keys(objectAt(container, "resources")).length > 0) {
      faults.forbidden(`${path}.resources`, "cannot be set for an Ephemeral Container");
    }
    for (const [mount, { subPath, subPathExpr }] of itemsAt(container, "volumeMounts").entries()) {
      if (subPath)
        faults.forbidden(
          `${path}.volumeMounts[${mount}].subPath`,
          "cannot be set for an Ephemeral Container",
        );
      if (subPathExpr)
        faults.forbidden(
          `${path}.volumeMounts[${mount}].subPathExpr`,
          "cannot be set for an Ephemeral Container",
        );
    }
  }
}

function checkContainer(faults: Faults, at: string, container: JsonObject, around: PodSurroundings): void {
  const name = textAt(container, "name");
  if (name === "") faults.required(`${at}.name`);
  else faults.each(`${at}.name`, name, dnsLabel(name));
  const image = textAt(container, "image");
  if (image === "") faults.required(`${at}.image`);
  else if (image !== image.trim()) {
    faults.invalid(`${at}.image`, image, "must not have leading or trailing whitespace");
  }
  const policy = textAt(container, "terminationMessagePolicy");
  if (policy === "") faults.required(`${at}.terminationMessagePolicy`);
  else faults.oneOf(`${at}.terminationMessagePolicy`, policy, ["File", "FallbackToLogsOnError"]);
  checkPorts(faults, `${at}.ports`, itemsAt(container, "ports"));
  checkEnvironment(faults, `${at}.env`, itemsAt(container, "env"));
  checkEnvironmentSources(faults, `${at}.envFrom`, itemsAt(container, "envFrom"));
  checkMounts(faults, at, container, around.volumes);
  const pull = textAt(container, "imagePullPolicy");
  if (pull === "") faults.required(`${at}.imagePullPolicy`);
  else faults.oneOf(`${at}.imagePullPolicy`, pull, pullPolicies);
  checkRequirements(faults, `${at}.resources`, objectAt(container, "resources"), { claims: around.claims });
  checkResizePolicies(faults, `${at}.resizePolicy`, container);
  if (hasAt(container, "securityContext")) {
    checkContainerSecurity(faults, `${at}.securityContext`, objectAt(container, "securityContext"));
  }
  const restart = field(container, "restartPolicy");
  if (restart !== undefined && restart !== null) {
    faults.oneOf(`${at}.restartPolicy`, textOf(restart), ["Always", "OnFailure", "Never"]);
  }
  checkRestartRules(faults, `${at}.restartPolicyRules`, container);
}

function checkRestartRules(faults: Faults, at: string, container: JsonObject): void {
  const rules = itemsAt(container, "restartPolicyRules");
  if (rules.length > 0 && !hasAt(container, "restartPolicy")) {
    faults.required(at.replace(/Rules$/, ""), "must specify restartPolicy when restart rules are used");
  }
  for (const [index, rule] of rules.entries()) {
    const action = textAt(rule, "action");
    if (action !== "Restart" && action !== "RestartAllContainers") {
      faults.unsupported(`${at}[${index}].action`, action, ["Restart"]);
    }
    if (!hasAt(rule, "exitCodes")) faults.required(`${at}[${index}].exitCodes`, "must be specified");
  }
}

function checkResizePolicies(faults: Faults, at: string, container: JsonObject): void {
  const seen = new Set<string>();
  for (const policy of itemsAt(container, "resizePolicy")) {
    const name = textAt(policy, "resourceName");
    if (seen.has(name)) faults.duplicate(at, name);
    seen.add(name);
    if (name === "") faults.required(at);
    else if (name !== "cpu" && name !== "memory") faults.unsupported(at, name, ["cpu", "memory"]);
    const restart = textAt(policy, "restartPolicy");
    if (restart === "") faults.required(at);
    else faults.oneOf(at, restart, ["NotRequired", "RestartContainer"]);
  }
}

function checkPorts(faults: Faults, at: string, ports: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `${at}[${index}]`;
    const name = textAt(port, "name");
    if (name !== "") {
      const complaints = portName(name);
      if (complaints.length > 0) faults.each(`${path}.name`, name, complaints);
      else if (names.has(name)) faults.duplicate(`${path}.name`, name);
      else names.add(name);
    }
    const inside = numberAt(port, "containerPort") ?? 0;
    if (inside === 0) faults.required(`${path}.containerPort`);
    else faults.each(`${path}.containerPort`, inside, portNumber(inside));
    const outside = numberAt(port, "hostPort") ?? 0;
    if (outside !== 0) faults.each(`${path}.hostPort`, outside, portNumber(outside));
    const protocol = textAt(port, "protocol");
    if (protocol === "") faults.required(`${path}.protocol`);
    else faults.oneOf(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]);
  }
}

function checkHostPorts(faults: Faults, at: string, spec: JsonObject): void {
  const taken = new Set<string>();
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of itemsAt(spec, list).entries()) {
      if (list === "initContainers" && textAt(container, "restartPolicy") !== "Always") continue;
      for (const [place, port] of itemsAt(container, "ports").entries()) {
        const outside = numberAt(port, "hostPort") ?? 0;
        if (outside === 0) continue;
        const key = `${textAt(port, "protocol")}/${textAt(port, "hostIP")}/${outside}`;
        if (taken.has(key)) faults.duplicate(`${at}.${list}[${index}].ports[${place}].hostPort`, key);
        taken.add(key);
      }
    }
  }
}

const variableSources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

function checkEnvironment(faults: Faults, at: string, variables: readonly JsonObject[]): void {
  for (const [index, variable] of variables.entries()) {
    const path = `${at}[${index}]`;
    const name = textAt(variable, "name");
    if (name === "") faults.required(`${path}.name`);
    else faults.each(`${path}.name`, name, environmentVariable(name));
    if (!hasAt(variable, "valueFrom")) continue;
    const from = objectAt(variable, "valueFrom");
    const used = variableSources.filter((source) => hasAt(from, source));
    for (const source of used)
      checkVariableSource(faults, `${path}.valueFrom.${source}`, source, objectAt(from, source));
    if (used.length === 0) {
      faults.invalid(
        `${path}.valueFrom`,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
      );
    } else if (textAt(variable, "value") !== "") {
      faults.invalid(`${path}.valueFrom`, "", "may not be specified when `value` is not empty");
    } else if (used.length > 1) {
      faults.invalid(`${path}.valueFrom`, "", "may not have more than one field specified at a time");
    }
  }
}

function checkVariableSource(faults: Faults, at: string, source: string, reference: JsonObject): void {
  switch (source) {
    case "fieldRef":
      checkFieldReference(faults, at, reference, variableFields);
      break;
    case "resourceFieldRef":
      checkResourceReference(faults, at, reference, "variable");
      break;
    case "fileKeyRef":
      checkFileReference(faults, at, reference);
      break;
    default: {
      const name = textAt(reference, "name");
      faults.each(`${at}.name`, name, dnsSubdomain(name));
      const key = textAt(reference, "key");
      if (key === "") faults.required(`${at}.key`);
      else faults.each(`${at}.key`, key, dataKey(key));
    }
  }
}

function checkFileReference(faults: Faults, at: string, reference: JsonObject): void {
  for (const part of ["path", "key", "volumeName"]) {
    if (textAt(reference, part) === "") faults.required(`${at}.${part}`);
  }
}

const variableFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** The fields of a pod that its volumes may show. */
export const volumeFields = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
/** What the pod's own version knows as a field at all. */
const knownFields = new Set([
  ...variableFields,
  ...volumeFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

export function checkFieldReference(
  faults: Faults,
  at: string,
  reference: JsonObject,
  supported: readonly string[],
): void {
  if (textAt(reference, "apiVersion") === "") {
    faults.required(`${at}.apiVersion`);
    return;
  }
  const path = textAt(reference, "fieldPath");
  if (path === "") {
    faults.required(`${at}.fieldPath`);
    return;
  }
  const subscript = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/.exec(path);
  if (subscript) {
    const [, base, key = ""] = subscript;
    const form = base === "metadata.labels" ? qualifiedName(key) : qualifiedName(key.toLowerCase());
    faults.each(at, key, form);
    return;
  }
  if (!knownFields.has(path)) {
    faults.invalid(`${at}.fieldPath`, path, `error converting fieldPath: field label not supported: ${path}`);
  } else if (!supported.includes(path)) {
    faults.unsupported(`${at}.fieldPath`, path, supported);
  }
}

const countedResources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

export function checkResourceReference(
  faults: Faults,
  at: string,
  reference: JsonObject,
  where: "variable" | "volume",
): void {
  const resource = textAt(reference, "resource");
  if (where === "volume" && textAt(reference, "containerName") === "") {
    faults.required(`${at}.containerName`);
  } else if (resource === "") faults.required(`${at}.resource`);
  else if (!countedResources.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource)) {
    faults.unsupported(`${at}.resource`, resource, countedResources);
  }
  checkDivisor(faults, `${at}.divisor`, resource, field(reference, "divisor"));
}

const cpuDivisors = ["1m", "1"];
const byteDivisors = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

function checkDivisor(faults: Faults, at: string, resource: string, divisor: Json | undefined): void {
  const value = textOf(divisor);
  if (value === "" || value === "0") return;
  if (resource.endsWith(".cpu")) {
    if (!cpuDivisors.includes(value)) {
      faults.invalid(at, "cpu", "only divisor's values 1m and 1 are supported with the cpu resource");
    }
  } else if (!byteDivisors.includes(value)) {
    const name = resource.split(".")[1] ?? "";
    faults.invalid(
      at,
      name,
      `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${name} resource`,
    );
  }
}

function checkEnvironmentSources(faults: Faults, at: string, sources: readonly JsonObject[]): void {
  for (const [index, source] of sources.entries()) {
    const path = `${at}[${index}]`;
    const prefix = textAt(source, "prefix");
    if (prefix !== "") faults.each(`${path}.prefix`, prefix, environmentVariable(prefix));
    const used = ["configMapRef", "secretRef"].filter((name) => hasAt(source, name));
    for (const reference of used) {
      const name = textAt(objectAt(source, reference), "name");
      if (name === "") faults.required(`${path}.${reference}.name`);
      else faults.each(`${path}.${reference}.name`, name, dnsSubdomain(name));
    }
    if (used.length === 0) faults.invalid(at, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (used.length > 1) faults.invalid(at, "", "may not have more than one field specified at a time");
  }
}
