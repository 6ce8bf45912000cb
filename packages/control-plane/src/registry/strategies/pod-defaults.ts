import { isObject, type JsonObject, textOf } from "../../json.ts";
import { each, ensure, fill } from "./fill.ts";

/** What the real server fills in wherever a pod's spec appears: in Pods and in every template. */
export function podSpecDefaults(spec: JsonObject): void {
  fill(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  const onHostNetwork = spec.hostNetwork === true;
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of each(spec, list)) containerDefaults(container, onHostNetwork);
  }
  for (const volume of each(spec, "volumes")) volumeDefaults(volume);
}

function containerDefaults(container: JsonObject, onHostNetwork: boolean): void {
  fill(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicy(textOf(container.image)),
    resources: {},
  });
  for (const port of each(container, "ports")) {
    fill(port, { protocol: "TCP", ...(onHostNetwork ? { hostPort: port.containerPort ?? 0 } : {}) });
  }
  const resources = ensure(container, "resources");
  if (isObject(resources.limits)) {
    const requests = ensure(resources, "requests");
    fill(requests, resources.limits);
  }
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const value = container[probe];
    if (isObject(value)) probeDefaults(value);
  }
  if (isObject(container.lifecycle)) {
    for (const hook of ["postStart", "preStop"]) {
      const value = container.lifecycle[hook];
      if (isObject(value) && isObject(value.httpGet)) fill(value.httpGet, { path: "/", scheme: "HTTP" });
    }
  }
  for (const variable of each(container, "env")) {
    const from = variable.valueFrom;
    if (isObject(from) && isObject(from.fieldRef)) fill(from.fieldRef, { apiVersion: "v1" });
  }
}

function probeDefaults(probe: JsonObject): void {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  if (isObject(probe.httpGet)) fill(probe.httpGet, { path: "/", scheme: "HTTP" });
  if (isObject(probe.grpc)) fill(probe.grpc, { service: "" });
}

/** A tag that may move, or none, is always pulled anew. */
function pullPolicy(image: string): string {
  const [name = ""] = image.split("@");
  const tag = name.slice(name.lastIndexOf("/") + 1).split(":")[1];
  if (image.includes("@")) return "IfNotPresent";
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

function volumeDefaults(volume: JsonObject): void {
  for (const source of ["secret", "configMap", "projected", "downwardAPI"]) {
    const value = volume[source];
    if (isObject(value)) fill(value, { defaultMode: 420 });
  }
  if (isObject(volume.hostPath)) fill(volume.hostPath, { type: "" });
  if (isObject(volume.projected)) {
    for (const source of each(volume.projected, "sources")) {
      if (isObject(source.serviceAccountToken)) fill(source.serviceAccountToken, { expirationSeconds: 3600 });
    }
  }
  const sources = Object.keys(volume).filter((name) => name !== "name");
  if (sources.length === 0) volume.emptyDir = {};
}
