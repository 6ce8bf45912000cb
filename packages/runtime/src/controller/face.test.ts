import { type AnyKind, metadataOnly } from "@windlass/client";
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Namespace,
  Pod,
  Secret,
  SelfSubjectAccessReview,
  Service,
  type ServiceInput,
} from "@windlass/kinds/builtin";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { child } from "../reconcile/child.ts";
import { condition } from "../reconcile/condition.ts";
import type { ReconcileContext } from "../reconcile/context.ts";
import { isReady } from "../reconcile/readiness.ts";
import { defineResource } from "../resource/index.ts";
import { invalid, webhookServer } from "../webhook/index.ts";
import { controller } from "./controller.ts";
import { declaration } from "./declaration.ts";
import { indexed } from "./indexes.ts";
import { byLabel, byOwner, byReference, watch } from "./watch.ts";

const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  spec: z.object({ image: z.string(), config: z.string().optional() }),
  status: z.object({
    phase: z.enum(["Waiting", "Ready"]).optional(),
    endpoints: z.array(z.object({ url: z.string() })).optional(),
  }),
});
const Fleet = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Fleet",
  scope: "Cluster",
  spec: z.object({ size: z.int() }),
});

/** What the compiler refuses. Nothing here runs: `tsc` fails if one of these lines compiles. */
describe("the compiler refuses", () => {
  test("an owned kind that is not declared", () => {
    controller(WebApp, {
      owns: [Deployment],
      reconcile: (_app, { owned, ownedAll }) => {
        expectTypeOf(owned(Deployment)?.spec.replicas).toEqualTypeOf<number | undefined>();
        // @ts-expect-error Service is not in `owns`.
        owned(Service);
        // @ts-expect-error Secret is not in `owns`.
        ownedAll(Secret);
      },
    });
  });

  test("a child of a kind that is not declared", () => {
    controller(WebApp, {
      owns: [ConfigMap],
      // @ts-expect-error Secret is not in `owns`.
      reconcile: () => ({ children: [child(Secret, { metadata: { name: "x" } })] }),
    });
    controller(WebApp, {
      owns: [ConfigMap],
      reconcile: async (_app, { apply }) => {
        await apply(child(ConfigMap, { metadata: { name: "x" } }));
        // @ts-expect-error Secret is not in `owns`.
        await apply(child(Secret, { metadata: { name: "x" } }));
      },
    });
  });

  test("a field that a child's kind does not have", () => {
    // @ts-expect-error `dada` is not a field of a ConfigMap.
    child(ConfigMap, { metadata: { name: "x" }, dada: {} });
    // @ts-expect-error A Deployment has a template.
    child(Deployment, { metadata: { name: "x" }, spec: { selector: {} } });
  });

  test("a child without a name", () => {
    // @ts-expect-error A child needs a stable name.
    child(ConfigMap, { metadata: {} });
    // @ts-expect-error A child needs a stable name, and each reconcile would generate another.
    child(ConfigMap, { metadata: { generateName: "x-" } });
    const service = (name: string): ServiceInput => ({ metadata: { name } });
    child(Service, service("x"));
  });

  test("a merge patch of fields that the kind does not have", () => {
    controller(WebApp, {
      reads: [Deployment],
      reconcile: async ({ metadata }, { client }) => {
        const patch = { spec: { replicas: null, template: { metadata: { labels: { tier: null } } } } };
        await client.patch(Deployment, metadata, { type: "merge", patch });
        await client.patch(WebApp, metadata, {
          type: "merge",
          patch: { metadata: { annotations: { a: "b" } } },
        });
        await client.patch<AnyKind>(Deployment, metadata, { type: "merge", patch: { spek: {} } });
        await client.patch(Deployment, metadata, {
          type: "merge",
          // @ts-expect-error `replica` is not a field of a Deployment's spec.
          patch: { spec: { replica: 1 } },
        });
        // @ts-expect-error Replicas are a number.
        await client.patch(Deployment, metadata, { type: "merge", patch: { spec: { replicas: "1" } } });
        await client.patch(WebApp, metadata, {
          type: "merge",
          // @ts-expect-error `img` is not a field of a WebApp's spec.
          patch: { spec: { img: "x" } },
        });
      },
    });
  });

  test("a write of an object that does not say its name, or its namespace where its kind has one", () => {
    controller(WebApp, {
      reads: [Secret],
      reconcile: async ({ metadata: { namespace }, spec: { image } }, { client }) => {
        await client.create(Secret, { metadata: { namespace, name: "x" } });
        await client.create(Secret, { metadata: { namespace, generateName: "x-" } });
        await client.create(Namespace, { metadata: { name: "x" } });
        await client.create(WebApp, { metadata: { namespace, name: "x" }, spec: { image } });
        await client.create(Fleet, { metadata: { generateName: "x-" }, spec: { size: 1 } });
        await client.create(SelfSubjectAccessReview, { spec: {} });
        await client.update(Secret, { metadata: { namespace, name: "x" } });
        await client.apply(Secret, { metadata: { namespace, name: "x" } });
        // @ts-expect-error A Secret has a name.
        await client.create(Secret, { metadata: { namespace } });
        // @ts-expect-error A Secret has a namespace.
        await client.create(Secret, { metadata: { name: "x" } });
        // @ts-expect-error A Secret has a namespace.
        await client.create(Secret, { metadata: { generateName: "x-" } });
        // @ts-expect-error A WebApp has a namespace.
        await client.create(WebApp, { metadata: { name: "x" }, spec: { image } });
        // @ts-expect-error A Namespace has a name.
        await client.create(Namespace, { metadata: {} });
        // @ts-expect-error A Secret has a namespace.
        await client.update(Secret, { metadata: { name: "x" } });
        // @ts-expect-error Only a name identifies the object.
        await client.update(Secret, { metadata: { namespace, generateName: "x-" } });
        // @ts-expect-error A Secret has a namespace.
        await client.apply(Secret, { metadata: { name: "x" } });
        // @ts-expect-error A Secret has a name.
        await client.apply(Secret, { metadata: { namespace } });
        // @ts-expect-error Of this kind only metadata is read: nothing is written.
        await client.create(metadataOnly(Secret), { metadata: { namespace, name: "x" } });
      },
    });
    const Review = defineResource({
      group: "example.com",
      version: "v1",
      kind: "CodeReview",
      spec: z.object({}),
    });
    // @ts-expect-error A custom kind has metadata.name.
    child(Review, { metadata: {}, spec: {} });
  });

  test("a cluster-scoped kind among what an object in a namespace owns", () => {
    controller(Fleet, { owns: [ClusterRole, Deployment], reconcile: () => undefined });
    controller(WebApp, {
      // @ts-expect-error A ClusterRole has no namespace.
      owns: [Deployment, ClusterRole],
      reconcile: () => undefined,
    });
    controller(WebApp, {
      // @ts-expect-error A Fleet has no namespace.
      owns: [{ kind: Fleet, metadataOnly: true }],
      reconcile: () => undefined,
    });
    const unknown: AnyKind = ClusterRole;
    controller(WebApp, { owns: [unknown], reconcile: () => undefined });
  });

  test("the spec of a child whose metadata alone is cached", () => {
    controller(WebApp, {
      owns: [{ kind: Secret, metadataOnly: true }, ConfigMap],
      reconcile: async (_app, { owned, ownedAll, cache, key, apply }) => {
        expectTypeOf(owned(metadataOnly(Secret))?.metadata.namespace).toEqualTypeOf<string | undefined>();
        expectTypeOf(cache.get(metadataOnly(Secret), key)?.metadata.name).toEqualTypeOf<string | undefined>();
        expectTypeOf(owned(ConfigMap)?.data?.x).toEqualTypeOf<string | undefined>();
        expectTypeOf(owned(metadataOnly(Secret))).not.toHaveProperty("data");
        // @ts-expect-error It is cached as metadata.
        owned(Secret);
        // @ts-expect-error It is cached as metadata.
        ownedAll(Secret);
        // @ts-expect-error It is cached as metadata.
        cache.get(Secret, key);
        // @ts-expect-error A Deployment is not in `owns`.
        owned(metadataOnly(Deployment));
        await apply(child(Secret, { metadata: { name: "x" } }));
        return { children: [child(Secret, { metadata: { name: "x" } })] };
      },
    });
  });

  test("an index that is not declared", () => {
    controller(WebApp, {
      owns: [indexed(ConfigMap, { colour: ({ data }) => [data?.colour ?? ""] })],
      watches: [watch(Pod, () => undefined, { indexes: { app: ({ metadata }) => [metadata.name] } })],
      reads: [indexed(Secret, { type: ({ type = "" }) => [type] })],
      indexes: { config: ({ spec }) => [spec.config ?? ""] },
      reconcile: (_app, { cache }) => {
        cache.byIndex(WebApp, "config", "x");
        cache.byIndex(Pod, "app", "x");
        cache.byIndex(Secret, "type", "x");
        cache.byIndex(ConfigMap, "colour", "x");
        // @ts-expect-error There is no such index of WebApp.
        cache.byIndex(WebApp, "confg", "x");
        // @ts-expect-error The index is one of Pod.
        cache.byIndex(Secret, "app", "x");
      },
    });
  });

  test("a mapping to objects of another kind than the controller's", () => {
    // @ts-expect-error The keys would be those of Fleets.
    controller(WebApp, { watches: [watch(Pod, byOwner(Fleet))], reconcile: () => undefined });
    const toFleets = byReference(Fleet, ({ spec }) => String(spec.size));
    expect(() =>
      // @ts-expect-error The keys would be those of Fleets.
      controller(WebApp, { watches: [watch(Pod, toFleets)], reconcile: () => undefined }),
    ).toThrow("byReference takes the controller's own kind");
    // @ts-expect-error The keys would be those of Fleets.
    declaration(WebApp, { watches: [watch(Pod, toFleets)] });
    controller(Fleet, { watches: [watch(Pod, toFleets)], reconcile: () => undefined });
    controller(Fleet, { watches: [watch(Pod, byOwner(Fleet))], reconcile: () => undefined });
    controller(Fleet, { watches: [watch(Pod, byLabel("fleet"))], reconcile: () => undefined });
    const unknown: AnyKind = Fleet;
    controller(Fleet, { watches: [watch(Pod, byOwner(unknown))], reconcile: () => undefined });
  });

  test("readiness by the rules of another kind", () => {
    const app = WebApp.make("a", { image: "nginx" });
    isReady(WebApp, app);
    // @ts-expect-error A WebApp is no Deployment.
    isReady(Deployment, app);
  });

  test("a status of a kind that has none", () => {
    const Bare = defineResource({ group: "example.com", version: "v1", kind: "Bare", spec: z.object({}) });
    controller(Bare, {
      // @ts-expect-error A Bare has no status.
      reconcile: () => ({ status: { phase: "Ready" } }),
    });
    controller(ConfigMap, {
      // @ts-expect-error A ConfigMap has no status.
      reconcile: async () => ({ status: { phase: "Ready" } }),
    });
    controller(Bare, { reconcile: () => ({ requeueAfter: "5m" }) });
    const unknown: AnyKind = Bare;
    controller(unknown, { reconcile: () => ({ status: { phase: "Ready" } }) });
  });

  test("the key of an object in a namespace without its namespace", () => {
    controller(WebApp, {
      reads: [Secret, Namespace],
      reconcile: async ({ metadata }, { cache, client }) => {
        cache.get(Secret, { namespace: metadata.namespace, name: "x" });
        await client.get(Namespace, { name: "x" });
        await client.delete(WebApp, metadata);
        // @ts-expect-error A Secret has a namespace.
        cache.get(Secret, { name: "x" });
        // @ts-expect-error A Secret has a namespace.
        await client.get(Secret, { name: "x" });
        // @ts-expect-error A Secret has a namespace.
        await client.live.get(Secret, { name: "x" });
        // @ts-expect-error A Secret has a namespace.
        await client.patch(Secret, { name: "x" }, { type: "merge", patch: {} });
        // @ts-expect-error A Secret has a namespace.
        await client.delete(Secret, { name: "x" });
      },
    });
  });

  test("a read from the cache of a kind that nothing holds there", () => {
    controller(WebApp, {
      owns: [Deployment],
      watches: [
        watch(
          ConfigMap,
          byReference(WebApp, ({ spec }) => spec.config),
        ),
      ],
      reconcile: (_app, { cache, key }) => {
        cache.get(WebApp, key);
        cache.get(Deployment, key);
        cache.get(ConfigMap, key);
        // @ts-expect-error Secrets are neither owned, watched nor read.
        cache.get(Secret, key);
      },
    });
  });

  test("a misspelt field of the result", () => {
    controller(WebApp, {
      // @ts-expect-error "requeAfter" is not a field of a result.
      reconcile: () => ({ status: { phase: "Ready" }, requeAfter: 5 }),
    });
    controller(WebApp, {
      // @ts-expect-error "requeAfter" is not a field of a result.
      reconcile: async () => ({ status: { phase: "Ready" }, requeAfter: 5 }),
    });
    controller(WebApp, {
      reconcile: () => undefined,
      // @ts-expect-error While an object is deleted, nothing is applied for it.
      finalize: async () => ({ children: [] }),
    });
  });

  test("an unknown field or a wrong value in the status, sync or async, at any depth", () => {
    controller(WebApp, {
      // @ts-expect-error "fase" is not a field of the status.
      reconcile: async (app) => (app.spec.image ? { status: { phase: "Ready", fase: 1 } } : undefined),
    });
    controller(WebApp, {
      // @ts-expect-error "Redy" is not a phase.
      reconcile: async () => ({ status: { phase: "Redy" } }),
    });
    controller(WebApp, {
      // @ts-expect-error "uri" is not a field of an endpoint.
      reconcile: async () => ({ status: { endpoints: [{ url: "", uri: "" }] } }),
    });
  });
});

describe("the compiler knows", () => {
  test("that objects of namespaced kinds have a namespace, and their keys too", () => {
    controller(WebApp, {
      reconcile: (app, { key }) => {
        expectTypeOf(app.metadata.namespace).toEqualTypeOf<string>();
        expectTypeOf(key.namespace).toEqualTypeOf<string>();
      },
    });
    controller(Fleet, {
      owns: [Deployment],
      reconcile: (fleet, { owned, key }) => {
        expectTypeOf(fleet.metadata.namespace).toEqualTypeOf<undefined>();
        expectTypeOf(key.namespace).toEqualTypeOf<undefined>();
        const deployment = owned(Deployment);
        if (deployment) expectTypeOf(deployment.metadata.namespace).toEqualTypeOf<string>();
      },
    });
  });

  test("what a webhook completes, and what a conversion gives, where the function is written in its place", () => {
    const Mode = z.enum(["Fast", "Safe"]);
    const base = { group: "example.com", kind: "Train" };
    const Train = defineResource({ ...base, version: "v1", spec: z.object({ mode: Mode.optional() }) });
    const Old = defineResource({ ...base, version: "v1beta1", spec: z.object({ how: Mode.optional() }) });
    const webhooks = () => webhookServer({ name: "train" });
    webhooks().default(Train, (train) => ({ ...train, spec: { mode: "Fast", ...train.spec } }));
    webhooks().default(Train, async (train) =>
      train.spec.mode ? undefined : { ...train, spec: { mode: "Safe" } },
    );
    // @ts-expect-error "Slow" is not a mode.
    webhooks().default(Train, (train) => ({ ...train, spec: { mode: "Slow" } }));
    webhooks().validate(Train, ({ spec }) => spec.mode === "Fast" && invalid("spec.mode", "is too fast"));
    Train.withVersion(Old, {
      to: ({ spec }) => ({ spec: { how: spec.mode === undefined ? "Safe" : "Fast" } }),
      from: ({ spec }) => ({ spec: { mode: spec.how === undefined ? "Safe" : "Fast" } }),
    });
    Train.withVersion(Old, {
      // @ts-expect-error "Slow" is not a mode.
      to: () => ({ spec: { how: "Slow" } }),
      from: () => ({ spec: {} }),
    });
  });

  test("a result that is left out, or returned on some paths only", () => {
    controller(WebApp, { reconcile: () => undefined });
    controller(WebApp, { reconcile: async () => undefined });
    controller(WebApp, {
      owns: [ConfigMap, Service],
      reconcile: async ({ metadata, spec }) => {
        if (spec.image === "") return;
        if (spec.config === undefined) return { requeueAfter: 1000 };
        return {
          children: [
            child(ConfigMap, { metadata: { name: metadata.name } }),
            spec.image !== "" && child(Service, { metadata: { name: metadata.name } }),
          ],
          status: { phase: "Ready", conditions: [condition("Ready", true, "Done")] },
        };
      },
    });
  });

  test("that a function for any controller's context takes the one of each", () => {
    const count = ({ cache }: ReconcileContext) => cache.list(WebApp).length;
    const children = ({ ownedAll }: Pick<ReconcileContext, "ownedAll">) => ownedAll(Deployment).length;
    controller(WebApp, {
      owns: [Deployment],
      reconcile: (_app, context) => {
        expectTypeOf(count(context)).toEqualTypeOf<number>();
        expectTypeOf(children(context)).toEqualTypeOf<number>();
      },
    });
  });
});
