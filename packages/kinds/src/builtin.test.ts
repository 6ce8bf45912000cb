import { expect, expectTypeOf, test } from "vitest";
import * as kinds from "./builtin.ts";
import {
  Deployment,
  type DeploymentInput,
  EventV1,
  HorizontalPodAutoscaler,
  Namespace,
  type Pod,
  type PodTemplateSpec,
} from "./builtin.ts";
import type { InputOf, ObjectOf } from "./object.ts";

test("a kind is a small value that says how to address it", () => {
  expect(Deployment).toEqual({
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    scope: "Namespaced",
  });
  expect(Namespace).toMatchObject({ group: "", version: "v1", scope: "Cluster" });
  expect(HorizontalPodAutoscaler.version).toBe("v2");
  expect(EventV1.group).toBe("events.k8s.io");
});

test("no two kinds share an address, and every one is complete", () => {
  const addresses = Object.values(kinds).map((kind) => `${kind.group}/${kind.version}/${kind.plural}`);
  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses.length).toBeGreaterThan(60);
  for (const kind of Object.values(kinds)) {
    expect(kind.kind).toMatch(/^[A-Z]/);
    expect(kind.plural).toMatch(/^[a-z]+$/);
    expect(["Namespaced", "Cluster"]).toContain(kind.scope);
  }
});

test("a minimal deployment type-checks as input, and reads have what the server always prints", () => {
  const input: DeploymentInput = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "nginx:1.29", ports: [{ containerPort: 80 }] }] },
      },
    },
  };
  expect(input.spec.template.spec.containers).toHaveLength(1);
  expectTypeOf<InputOf<typeof Deployment>>().toEqualTypeOf<DeploymentInput>();
  expectTypeOf<ObjectOf<typeof Deployment>>().toEqualTypeOf<Deployment>();
  expectTypeOf<Deployment["metadata"]["name"]>().toEqualTypeOf<string>();
  expectTypeOf<Deployment["spec"]["replicas"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Pod["spec"]["nodeName"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Deployment["spec"]["template"]>().toEqualTypeOf<PodTemplateSpec>();
  expectTypeOf<Deployment["status"]>().extract<undefined>().toEqualTypeOf<undefined>();
  expectTypeOf<typeof Pod>().not.toEqualTypeOf<typeof Deployment>();
});

test("timestamps and quantities are strings, a quantity may be written as a number, ports may be names", () => {
  expectTypeOf<Pod["metadata"]["creationTimestamp"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<NonNullable<kinds.ResourceRequirements["limits"]>[string]>().toEqualTypeOf<string>();
  expectTypeOf<NonNullable<kinds.ResourceRequirementsInput["limits"]>[string]>().toEqualTypeOf<
    number | string
  >();
  expectTypeOf<DeploymentInput["spec"]["template"]>().toEqualTypeOf<kinds.PodTemplateSpecInput>();
  expectTypeOf<PodTemplateSpec>().toExtend<kinds.PodTemplateSpecInput>();
  expectTypeOf<kinds.ServicePort["targetPort"]>().toEqualTypeOf<number | string | undefined>();
});
