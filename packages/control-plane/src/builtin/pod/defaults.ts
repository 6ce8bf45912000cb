import { isObject, type JsonObject } from "../../json.ts";
import { child, items, text } from "../../validation/fields.ts";
import { ensure, fill } from "../../validation/fill.ts";

/** What the real server fills in wherever a pod's spec appears: in Pods and in every template. */
export function podSpecDefaults(spec: JsonObject): void {
  if (spec.restartPolicy === undefined || spec.restartPolicy === "") spec.restartPolicy = "Always";
  if (spec.dnsPolicy === undefined || spec.dnsPolicy === "") spec.dnsPolicy = "ClusterFirst";
  if (spec.schedulerName === undefined || spec.schedulerName === "") spec.schedulerName = "default-scheduler";
  fill(spec, { terminationGracePeriodSeconds: 30, securityContext: {} });
  accountNames(spec);
  if (spec.resources !== undefined) podResourceDefaults(spec);
  const onHostNetwork = spec.hostNetwork === true;
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of items(spec, list)) containerDefaults(container, onHostNetwork);
  }
  for (const volume of items(spec, "volumes")) volumeDefaults(volume);
}

/** The old name of the service account's field is kept the same as the new one. */
function accountNames(spec: JsonObject): void {
  const name = text(spec, "serviceAccountName") || text(spec, "serviceAccount");
  if (name === "") return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Takes away fields whose feature is off. They are seen to have been sent, and are not kept. */
export function dropDisabled(spec: JsonObject): void {
  for (const container of items(spec, "containers")) {
    const lifecycle = child(container, "lifecycle");
    if (lifecycle.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
  }
}

/**
 * What a pod that is to run asks for where it only says how much it may take. Templates are left as
 * they are.
 */
export function requestDefaults(spec: JsonObject): void {
  for (const list of ["initContainers", "containers"]) {
    for (const container of items(spec, list)) {
      const resources = child(container, "resources");
      const limits = child(resources, "limits");
      if (Object.keys(limits).length > 0) fill(ensure(resources, "requests"), limits);
    }
  }
}

function containerDefaults(container: JsonObject, onHostNetwork: boolean): void {
  for (const [name, value] of [
    ["terminationMessagePath", "/dev/termination-log"],
    ["terminationMessagePolicy", "File"],
    ["imagePullPolicy", pullPolicy(text(container, "image"))],
  ] as const) {
    if (container[name] === undefined || container[name] === "") container[name] = value;
  }
  for (const port of items(container, "ports")) {
    if (text(port, "protocol") === "") port.protocol = "TCP";
    if (onHostNetwork && !port.hostPort && port.containerPort) port.hostPort = port.containerPort;
  }
  ensure(container, "resources");
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const value = container[probe];
    if (isObject(value)) probeDefaults(value);
  }
  const lifecycle = child(container, "lifecycle");
  for (const hook of ["postStart", "preStop"]) httpDefaults(child(lifecycle, hook));
  for (const variable of items(container, "env")) {
    const reference = child(child(variable, "valueFrom"), "fieldRef");
    if (Object.hasOwn(child(variable, "valueFrom"), "fieldRef") && text(reference, "apiVersion") === "") {
      reference.apiVersion = "v1";
    }
    const file = child(child(variable, "valueFrom"), "fileKeyRef");
    if (Object.keys(file).length > 0) fill(file, { optional: false });
  }
}

function httpDefaults(handler: JsonObject): void {
  const get = handler.httpGet;
  if (!isObject(get)) return;
  if (text(get, "path") === "") get.path = "/";
  if (text(get, "scheme") === "") get.scheme = "HTTP";
}

function probeDefaults(probe: JsonObject): void {
  for (const [name, value] of [
    ["timeoutSeconds", 1],
    ["periodSeconds", 10],
    ["successThreshold", 1],
    ["failureThreshold", 3],
  ] as const) {
    if (!probe[name]) probe[name] = value;
  }
  httpDefaults(probe);
  if (isObject(probe.grpc)) fill(probe.grpc, { service: "" });
}

/** A tag that may move, or none, is always pulled again. */
export function pullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = image.slice(image.lastIndexOf("/") + 1).split(":")[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

/** Limits of the whole pod that its containers' requests do not say otherwise for. */
function podResourceDefaults(spec: JsonObject): void {
  const resources = child(spec, "resources");
  const limits = child(resources, "limits");
  if (Object.keys(limits).length === 0) return;
  const requests = ensure(resources, "requests");
  for (const [name, value] of Object.entries(limits)) {
    if (requests[name] === undefined) requests[name] = value;
  }
}

const withMode = ["secret", "configMap", "projected", "downwardAPI"];

/** What a volume gets, in a pod. */
export function volumeDefaults(volume: JsonObject): void {
  for (const source of withMode) {
    const value = volume[source];
    if (isObject(value)) fill(value, { defaultMode: 420 });
  }
  if (isObject(volume.downwardAPI)) fieldReferences(volume.downwardAPI);
  if (isObject(volume.projected)) {
    for (const source of items(volume.projected, "sources")) {
      if (isObject(source.serviceAccountToken)) fill(source.serviceAccountToken, { expirationSeconds: 3600 });
      if (isObject(source.downwardAPI)) fieldReferences(source.downwardAPI);
    }
  }
  if (isObject(volume.image) && text(volume.image, "pullPolicy") === "") {
    volume.image.pullPolicy = pullPolicy(text(volume.image, "reference"));
  }
  if (isObject(volume.ephemeral) && isObject(volume.ephemeral.volumeClaimTemplate)) {
    fill(ensure(volume.ephemeral.volumeClaimTemplate, "spec"), { volumeMode: "Filesystem" });
  }
  sharedSourceDefaults(volume);
  if (Object.keys(volume).every((name) => name === "name")) volume.emptyDir = {};
}

function fieldReferences(source: JsonObject): void {
  for (const item of items(source, "items")) {
    if (isObject(item.fieldRef) && text(item.fieldRef, "apiVersion") === "") item.fieldRef.apiVersion = "v1";
  }
}

/** What the sources that pods and PersistentVolumes have in common get. */
export function sharedSourceDefaults(holder: JsonObject): void {
  if (isObject(holder.hostPath)) fill(holder.hostPath, { type: "" });
  if (isObject(holder.iscsi) && text(holder.iscsi, "iscsiInterface") === "")
    holder.iscsi.iscsiInterface = "default";
  if (isObject(holder.rbd)) {
    for (const [name, value] of Object.entries({
      pool: "rbd",
      user: "admin",
      keyring: "/etc/ceph/keyring",
    })) {
      if (text(holder.rbd, name) === "") holder.rbd[name] = value;
    }
  }
  if (isObject(holder.azureDisk)) {
    fill(holder.azureDisk, { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" });
  }
  if (isObject(holder.scaleIO)) {
    if (text(holder.scaleIO, "storageMode") === "") holder.scaleIO.storageMode = "ThinProvisioned";
    if (text(holder.scaleIO, "fsType") === "") holder.scaleIO.fsType = "xfs";
  }
}
