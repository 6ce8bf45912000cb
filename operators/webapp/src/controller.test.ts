import type { AnyKind, ChildObject, ReconcileContext, Wanted } from "@windlass/runtime";
import { Deployment, HorizontalPodAutoscaler, Ingress, Pod, Service } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import { WebApp, webapp } from "./index.ts";

const key = { namespace: "web", name: "shop" };

/** Runs the reconcile function with plain objects: what is there, by kind, in; what it wants, out. */
async function reconcile(spec: object, there: ReadonlyMap<AnyKind, readonly object[]> = new Map()) {
  const applied: { readonly object: object; readonly fieldManager?: string }[] = [];
  const context = {
    key,
    owned: (kind: AnyKind) => there.get(kind)?.[0],
    cache: { list: (kind: AnyKind) => there.get(kind) ?? [], byIndex: () => there.get(Pod) ?? [] },
    apply: async (_kind: AnyKind, object: object) => {
      applied.push({ object });
      return object;
    },
    client: {
      apply: async (_kind: AnyKind, object: object, options: { readonly fieldManager: string }) => {
        applied.push({ object, ...options });
        return object;
      },
    },
  } as unknown as ReconcileContext;
  const app = WebApp.make(key, { image: "nginx:1.25", ...spec }, { phase: "Ready" });
  const wanted = (await webapp.options.reconcile(app, context)) as Wanted<typeof WebApp>;
  const children = (wanted.children ?? []) as readonly (readonly [AnyKind, ChildObject])[];
  return { applied, children: new Map(children), status: wanted.status };
}

test("an app has a Service, and an Ingress and an autoscaler if it asks for them", async () => {
  const plain = await reconcile({});
  expect([...plain.children.keys()]).toEqual([Service]);
  const full = await reconcile({ host: "shop.example.com", autoscaling: { min: 2, max: 5 } });
  expect([...full.children.keys()]).toEqual([Service, Ingress, HorizontalPodAutoscaler]);
  expect(full.children.get(HorizontalPodAutoscaler)).toMatchObject({
    spec: { minReplicas: 2, maxReplicas: 5, scaleTargetRef: { kind: "Deployment", name: "shop" } },
  });
});

test("replicas are applied as long as no autoscaler is there", async () => {
  const { applied } = await reconcile({ replicas: 4, autoscaling: { min: 2, max: 5 } });
  expect(applied).toMatchObject([{ object: { spec: { replicas: 4 } } }]);
});

test("another manager takes hold of the replicas before they are left to an autoscaler", async () => {
  const scaleTargetRef = { kind: "Deployment", name: "shop" };
  const autoscaler = { spec: { scaleTargetRef } };
  const live = (decider: string) => ({
    metadata: { name: "shop", annotations: { "example.com/scaled-by": decider } },
    spec: { replicas: 3 },
  });
  const there = (decider: string) =>
    new Map([
      [HorizontalPodAutoscaler as AnyKind, [autoscaler]],
      [Deployment as AnyKind, [live(decider)]],
    ]);
  const first = await reconcile({ replicas: 1 }, there("spec"));
  expect(first.applied).toMatchObject([
    { object: { spec: { replicas: 3 } }, fieldManager: "webapp-autoscaler" },
    { object: { metadata: { annotations: { "example.com/scaled-by": "autoscaler" } } } },
  ]);
  expect(first.applied[1]?.object).not.toHaveProperty("spec.replicas");
  const later = await reconcile({ replicas: 1 }, there("autoscaler"));
  expect(later.applied).toHaveLength(1);
  expect(later.applied[0]?.object).not.toHaveProperty("spec.replicas");
});

test("a pod asks for a look at the app that it is labelled with, and is found by it", () => {
  const [pods] = webapp.watches;
  const map = pods?.map as ((pod: object, context: object) => unknown) | undefined;
  const labels = { "app.kubernetes.io/name": "shop" };
  expect(pods?.kind).toBe(Pod);
  const pod = { metadata: { namespace: "web", name: "shop-1", labels } };
  expect(map?.(pod, {})).toEqual(key);
  expect(pods?.indexes?.app?.(pod as never)).toEqual(["web/shop"]);
});
