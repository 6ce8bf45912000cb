import { applyManifest, type ObjectOf } from "@windlass/client";
import { manager } from "@windlass/runtime";
import { CustomResourceDefinition, Deployment, Pod } from "@windlass/runtime/kinds";
import { Policy, WebApp, webapp, webhooks } from "@windlass/webapp";
import { type DemoPart, type RunningPart, readSamples, type Stage } from "./stage.ts";

export const webappDemo: DemoPart = {
  name: "webapp",
  summary: "an image becomes a Deployment, a Service, an Ingress and an autoscaler",
  start,
};

const namespace = "default";

async function start(stage: Stage): Promise<RunningPart> {
  const { client, plane, signal } = stage;
  const admission = webhooks(Policy.parse(process.env), { port: false, install: true });
  await client.apply(CustomResourceDefinition, WebApp.crd({ conversion: admission.conversion() }));
  stage.say("crd", `${WebApp.plural}.${WebApp.group} installed`);
  plane.bindService(namespace, "webapp-operator-webhook", 443, admission.handle);
  const running = manager({
    client: stage.clientOf("webapp-operator"),
    leaderElection: { name: "webapp-operator", namespace },
    health: false,
    metrics: false,
    log: stage.log,
  })
    .add(webapp)
    .add(admission)
    .run({ signal });

  const samples = await readSamples("webapp");
  const waiting = new Set(samples.map(({ metadata }) => metadata.name));
  const ready = Promise.withResolvers<void>();
  const describe = (app: ObjectOf<typeof WebApp>) => {
    const condition = app.status?.conditions?.find(({ type }) => type === "Ready");
    if (condition?.status === "True" && waiting.delete(app.metadata.name) && waiting.size === 0)
      ready.resolve();
    return condition === undefined ? "new" : `${app.status?.phase}: ${condition.message}`;
  };
  const shown = [
    stage.follow(Deployment, describeDeployment, { namespace }),
    stage.follow(Pod, describePod, { namespace }),
    stage.follow(WebApp, describe, { namespace }),
  ];
  for (const sample of samples) {
    await applyManifest(client, { ...sample, metadata: { ...sample.metadata, namespace } });
    stage.say("sample", `webapp/${sample.metadata.name} applied`);
  }
  return { ready: ready.promise, stopped: Promise.all([running, ...shown]).then(() => undefined) };
}

function describeDeployment({ spec, status }: ObjectOf<typeof Deployment>): string {
  return `${status?.availableReplicas ?? 0} of ${spec?.replicas ?? 0} available`;
}

function describePod({ status }: ObjectOf<typeof Pod>): string {
  return `${status?.phase ?? "Pending"}${status?.podIP ? ` at ${status.podIP}` : ""}`;
}
