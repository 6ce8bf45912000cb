import { isObject, type JsonObject } from "../../json.ts";
import { itemsAt, objectAt, textAt } from "../../json-fields.ts";
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
    for (const container of itemsAt(spec, list)) containerDefaults(container, onHostNetwork);
  }
  for (const volume of itemsAt(spec, "volumes")) volumeDefaults(volume);
}

/** The old name of the service account's field is kept the same as the new one. */
function accountNames(spec: JsonObject): void {
  const name = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  if (name === "") return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Takes away fields whose feature is off. They are seen to have been sent, and are not kept. */
export function dropDisabled(spec: JsonObject): void {
  for (const container of itemsAt(spec, "containers")) {
    const lifecycle = objectAt(container, "lifecycle");
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
    for (const container of itemsAt(spec, list)) {
      const resources = objectAt(container, "resources");
      const limits = objectAt(resources, "limits");
      if (Object.keys(limits).length > 0) fill(ensure(resources, "requests"), limits);
    }
  }
}

function containerDefaults(container: JsonObject, onHostNetwork: boolean): void {
  for (const [name, value] of [
    ["terminationMessagePath", "/dev/termination-log"],
    ["terminationMessagePolicy", "File"],
    ["imagePullPolicy", pullPolicy(textAt(container, "image"))],
  ] as const) {
    if (container[name] === undefined || container[name] === "") container[name] = value;
  }
  for (const port of itemsAt(container, "ports")) {
    if (textAt(port, "protocol") === "") port.protocol = "TCP";
    if (onHostNetwork && !port.hostPort && port.containerPort) port.hostPort = port.containerPort;
  }
  ensure(container, "resources");
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const value = container[probe];
    if (isObject(value)) probeDefaults(value);
  }
  const lifecycle = objectAt(container, "lifecycle");
  for (const hook of ["postStart", "preStop"]) httpDefaults(objectAt(lifecycle, hook));
  for (const variable of itemsAt(container, "env")) {
    const reference = objectAt(objectAt(variable, "valueFrom"), "fieldRef");
    if (
      Object.hasOwn(objectAt(variable, "valueFrom"), "fieldRef") &&
      textAt(reference, "apiVersion") === ""
    ) {
      reference.apiVersion = "v1";
    }
    const file = objectAt(objectAt(variable, "valueFrom"), "fileKeyRef");
    if (Object.keys(file).length > 0) fill(file, { optional: false });
  }
}

function httpDefaults(handler: JsonObject): void {
  const get = handler.httpGet;
  if (!isObject(get)) return;
  if (textAt(get, "path") === "") get.path = "/";
  if (textAt(get, "scheme") === "") get.scheme = "HTTP";
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
  const resources = objectAt(spec, "resources");
  const limits = objectAt(resources, "limits");
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
    for (const source of itemsAt(volume.projected, "sources")) {
      if (isObject(source.serviceAccountToken)) fill(source.serviceAccountToken, { expirationSeconds: 3600 });
      if (isObject(source.downwardAPI)) fieldReferences(source.downwardAPI);
    }
  }
  if (isObject(volume.image) && textAt(volume.image, "pullPolicy") === "") {
    volume.image.pullPolicy = pullPolicy(textAt(volume.image, "reference"));
  }
  if (isObject(volume.ephemeral) && isObject(volume.ephemeral.volumeClaimTemplate)) {
    fill(ensure(volume.ephemeral.volumeClaimTemplate, "spec"), { volumeMode: "Filesystem" });
  }
  sharedSourceDefaults(volume);
  if (Object.keys(volume).every((name) => name === "name")) volume.emptyDir = {};
}

function fieldReferences(source: JsonObject): void {
  for (const item of itemsAt(source, "items")) {
    if (isObject(item.fieldRef) && textAt(item.fieldRef, "apiVersion") === "")
      item.fieldRef.apiVersion = "v1";
  }
}

/** What the sources that pods and PersistentVolumes have in common get. */
export function sharedSourceDefaults(holder: JsonObject): void {
  if (isObject(holder.hostPath)) fill(holder.hostPath, { type: "" });
  if (isObject(holder.iscsi) && textAt(holder.iscsi, "iscsiInterface") === "")
    holder.iscsi.iscsiInterface = "default";
  if (isObject(holder.rbd)) {
    for (const [name, value] of Object.entries({
      pool: "rbd",
      user: "admin",
      keyring: "/etc/ceph/keyring",
    })) {
      if (textAt(holder.rbd, name) === "") holder.rbd[name] = value;
    }
  }
  if (isObject(holder.azureDisk)) {
    fill(holder.azureDisk, { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" });
  }
  if (isObject(holder.scaleIO)) {
    if (textAt(holder.scaleIO, "storageMode") === "") holder.scaleIO.storageMode = "ThinProvisioned";
    if (textAt(holder.scaleIO, "fsType") === "") holder.scaleIO.fsType = "xfs";
  }
}
