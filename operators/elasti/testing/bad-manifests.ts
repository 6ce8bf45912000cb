/** An ElastiService that must be refused, and the field that the refusal must name. */
export interface BadManifest {
  readonly why: string;
  readonly field: string;
  readonly spec: object | undefined;
}

const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const good = { service: "web", scaleTargetRef };
const prometheus = { query: "up", threshold: "1" };

function bad(why: string, field: string, change: object): BadManifest {
  return { why, field, spec: { ...good, ...change } };
}

function badTrigger(why: string, field: string, trigger: object): BadManifest {
  return bad(why, `spec.triggers[0]${field}`, { triggers: [trigger] });
}

function badProbe(why: string, field: string, probe: object): BadManifest {
  const response = { status: 200, body: "ok" };
  return bad(why, `spec.probeResponse[0]${field}`, { probeResponse: [{ response, ...probe }] });
}

/** Every way of getting it wrong that the schema and its rules should catch. */
export const badManifests: readonly BadManifest[] = [
  { why: "no spec", field: "spec", spec: undefined },
  { why: "no service", field: "spec.service", spec: { scaleTargetRef } },
  { why: "no target", field: "spec.scaleTargetRef", spec: { service: "web" } },
  bad("an invalid name of a Service", "spec.service", { service: "Web!" }),
  bad("an invalid apiVersion", "spec.scaleTargetRef.apiVersion", {
    scaleTargetRef: { ...scaleTargetRef, apiVersion: "apps" },
  }),
  bad("a Deployment of another group", "spec.scaleTargetRef.apiVersion", {
    scaleTargetRef: { ...scaleTargetRef, apiVersion: "argoproj.io/v1alpha1" },
  }),
  bad("a Rollout of another group", "spec.scaleTargetRef.apiVersion", {
    scaleTargetRef: { ...scaleTargetRef, kind: "Rollout" },
  }),
  bad("a target without a name", "spec.scaleTargetRef.name", {
    scaleTargetRef: { ...scaleTargetRef, name: "" },
  }),
  bad("waking up with nothing", "spec.minTargetReplicas", { minTargetReplicas: 0 }),
  bad("more at least than at most", "spec.maxTargetReplicas", { minTargetReplicas: 5, maxTargetReplicas: 2 }),
  bad("a replica for no request", "spec.requestsPerReplica", { requestsPerReplica: 0 }),
  bad("a cooldown below zero", "spec.cooldownPeriod", { cooldownPeriod: -1 }),
  bad("a cooldown beyond a week", "spec.cooldownPeriod", { cooldownPeriod: 604_801 }),
  bad("no triggers in a list of them", "spec.triggers", { triggers: [] }),
  badTrigger("a trigger of no type", ".type", {}),
  badTrigger("a type that there is not", ".type", { type: "cpu" }),
  badTrigger("a prometheus trigger without a query", ".metadata", {
    type: "prometheus",
    metadata: { threshold: "1" },
  }),
  badTrigger("a prometheus trigger without metadata", ".metadata", { type: "prometheus" }),
  badTrigger("a threshold that is no number", ".metadata.threshold", {
    type: "prometheus",
    metadata: { ...prometheus, threshold: "many" },
  }),
  badTrigger("a server that is no URL", ".metadata.serverAddress", {
    type: "prometheus",
    metadata: { ...prometheus, serverAddress: "prometheus:9090" },
  }),
  badTrigger("an http trigger without a place to read", ".metadata", {
    type: "http",
    metadata: { url: "http://queue/length", threshold: 1 },
  }),
  badTrigger("a schedule that lacks its end", ".metadata", {
    type: "schedule",
    metadata: { start: "0 8 * * *" },
  }),
  badTrigger("a schedule that is no cron expression", ".metadata.start", {
    type: "schedule",
    metadata: { start: "at eight", end: "0 18 * * *" },
  }),
  badTrigger("an unknown time zone", ".metadata.timezone", {
    type: "schedule",
    metadata: { start: "0 8 * * *", end: "0 18 * * *", timezone: "Berlin time" },
  }),
  bad("an autoscaler of another kind", "spec.autoscaler.type", { autoscaler: { type: "vpa", name: "web" } }),
  bad("an autoscaler without a name", "spec.autoscaler.name", { autoscaler: { type: "hpa" } }),
  bad("a period that is no cron expression", "spec.enabledPeriod.schedule", {
    enabledPeriod: { schedule: "nightly" },
  }),
  bad("a period of no length", "spec.enabledPeriod.duration", { enabledPeriod: { duration: "long" } }),
  bad("a period in no time zone", "spec.enabledPeriod.timeZone", {
    enabledPeriod: { timeZone: "Berlin time" },
  }),
  badProbe("a probe with an answer of its own making", ".response.status", {
    response: { status: 299, body: "" },
  }),
  badProbe("a probe without an answer", ".response", { response: undefined }),
  badProbe("a probe of a method that there is not", ".method", { method: "FETCH" }),
  badProbe("a path of another type", ".path.type", { path: { type: "Glob", value: "/*" } }),
  badProbe("a header without a name", ".headers[0].name", { headers: [{ value: "x" }] }),
  bad("the same dependency twice", "spec.dependsOn", { dependsOn: ["db", "db"] }),
  bad("a service that depends on itself", "spec.dependsOn", { dependsOn: ["bad"] }),
  bad("woken ahead by no time", "spec.wakeAhead.lead", { wakeAhead: { lead: "soon" } }),
  bad("neither restored nor kept", "spec.onDelete", { onDelete: "Forget" }),
  bad("requests that may not wait", "spec.hold.timeoutSeconds", { hold: { timeoutSeconds: 0 } }),
  bad("a queue of no length", "spec.hold.queueSize", { hold: { queueSize: 0 } }),
  bad("a pod that gets no requests", "spec.hold.requestsPerPod", { hold: { requestsPerPod: 0 } }),
  bad("a page that is never shown", "spec.hold.waitingPage.afterSeconds", {
    hold: { waitingPage: { afterSeconds: 601 } },
  }),
];
