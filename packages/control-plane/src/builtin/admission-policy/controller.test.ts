import { expect, test } from "vitest";
import { startCluster } from "../../controllers/cluster.fixture.ts";
import type { JsonObject } from "../../json.ts";

const bucket = "validatingadmissionpolicies.admissionregistration.k8s.io";

function policy(name: string, resources: string[], more: JsonObject, group = "apps"): JsonObject {
  const rule = { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE"], resources };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, ...more },
  };
}

test("a policy's status lists the expressions that cannot be right for the kinds it names", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    policy("good", ["deployments"], {
      variables: [{ name: "wanted", expression: "object.spec.replicas" }],
      validations: [{ expression: "variables.wanted > 1" }],
    }),
    policy("bad", ["deployments", "replicasets"], {
      validations: [{ expression: "object.spec.replicas > '1'" }],
    }),
    policy("any", ["*"], { validations: [{ expression: "object.spec.replicas > '1'" }] }),
  );
  const mismatch =
    "ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n";
  expect(cluster.get(bucket, "good")?.status).toEqual({ observedGeneration: 1, typeChecking: {} });
  expect(cluster.get(bucket, "any")?.status).toEqual({ observedGeneration: 1, typeChecking: {} });
  expect(cluster.get(bucket, "bad")?.status).toEqual({
    observedGeneration: 1,
    typeChecking: {
      expressionWarnings: [
        {
          fieldRef: "spec.validations[0].expression",
          warning: `apps/v1, Kind=Deployment: ${mismatch}\napps/v1, Kind=ReplicaSet: ${mismatch}`,
        },
      ],
    },
  });
});

test("it is checked again when it changes", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    policy("p", ["deployments"], { validations: [{ expression: "object.spec.nope == 1" }] }),
  );
  expect(cluster.get(bucket, "p")?.status).toHaveProperty("typeChecking.expressionWarnings");
  await cluster.change(bucket, "p", (object) => {
    (object.spec as JsonObject).validations = [{ expression: "object.spec.replicas == 1" }];
  });
  expect(cluster.get(bucket, "p")?.status).toEqual({ observedGeneration: 2, typeChecking: {} });
});

test("kinds that were defined have their own fields, and the metadata of all", async () => {
  await using cluster = await startCluster();
  const replicas = { type: "integer" };
  const openAPIV3Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { replicas } } },
  };
  await cluster.create({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "crontabs.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "crontabs", kind: "CronTab" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  const expressions = [
    "object.metadata.name != ''",
    "object.metadata.name > 1",
    "object.spec.replicas > '1'",
    "object.spec.most < 10",
  ];
  const validations = expressions.map((expression) => ({ expression }));
  await cluster.create(policy("p", ["crontabs"], { validations }, "example.com"));
  expect(cluster.get(bucket, "p")?.status).toMatchObject({
    typeChecking: {
      expressionWarnings: [1, 2, 3].map((index) => ({ fieldRef: `spec.validations[${index}].expression` })),
    },
  });
});
