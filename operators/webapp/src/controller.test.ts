import { byLabel } from "@windlass/runtime";
import { Deployment, HorizontalPodAutoscaler, Ingress, Pod, Service } from "@windlass/runtime/kinds";
import { existing, testReconcile } from "@windlass/testing";
import { expect, test } from "vitest";
import { nameLabel } from "./children.ts";
import { WebApp, webapp } from "./index.ts";

const key = { namespace: "web", name: "shop" };
const appWith = (spec: object) => WebApp.make(key, { image: "nginx:1.25", ...spec }, { phase: "Ready" });

test("an app has a Service, and an Ingress and an autoscaler if it asks for them", async () => {
  const plain = await testReconcile(webapp, appWith({}));
  expect(plain.children.map(({ kind }) => kind)).toEqual([Deployment, Service]);
  const full = await testReconcile(
    webapp,
    appWith({ host: "shop.example.com", autoscaling: { min: 2, max: 5 } }),
  );
  expect(full.children.map(({ kind }) => kind)).toEqual([
    Deployment,
    Service,
    Ingress,
    HorizontalPodAutoscaler,
  ]);
  expect(full.child(HorizontalPodAutoscaler)?.spec).toMatchObject({
    minReplicas: 2,
    maxReplicas: 5,
    scaleTargetRef: { kind: "Deployment", name: "shop" },
  });
});

test("replicas are applied as long as no autoscaler is there", async () => {
  const { child } = await testReconcile(webapp, appWith({ replicas: 4, autoscaling: { min: 2, max: 5 } }));
  expect(child(Deployment)?.spec.replicas).toBe(4);
});

test("replicas are handed over once an autoscaler decides, be it the app's own or another's", async () => {
  const scaleTargetRef = { kind: "Deployment", name: "shop" };
  const cache = [
    existing(HorizontalPodAutoscaler, { metadata: { name: "theirs" }, spec: { scaleTargetRef } }),
  ];
  const owned = [existing(Deployment, { metadata: { name: "shop" }, spec: { replicas: 3 } })];
  const tried = await testReconcile(webapp, appWith({ replicas: 1 }), { cache, owned });
  expect(tried.child(Deployment)?.spec).not.toHaveProperty("replicas");
  expect(tried.children[0]?.options.handOver).toEqual({ spec: { replicas: true } });
  // A Deployment that is not there yet begins with the app's own number.
  const first = await testReconcile(webapp, appWith({ replicas: 4 }), { cache });
  expect(first.child(Deployment)?.spec.replicas).toBe(4);
});

test("the reason why a pod does not start is found by the label of the app, and reported", async () => {
  const labels = { [nameLabel]: "shop" };
  const containerStatuses = [
    {
      name: "app",
      ready: false,
      state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } },
    },
  ];
  const pod = existing(Pod, {
    metadata: { ...key, name: "shop-1", labels },
    status: { containerStatuses },
  });
  expect(byLabel(nameLabel)(pod.object)).toEqual(key);
  const { status } = await testReconcile(webapp, appWith({}), { cache: [pod] });
  expect(status?.conditions?.[0]).toMatchObject({
    type: "Ready",
    status: "False",
    reason: "ImagePullFailed",
  });
});
