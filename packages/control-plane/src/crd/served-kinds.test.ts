import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { matcher } from "../patterns/patterns.fixture.ts";
import { finishNow } from "../steps.ts";
import { decideNames } from "./names.ts";
import { prepareCrd } from "./rule-review.ts";
import { applyScale, scaleOf } from "./scale.ts";
import { servedKinds } from "./served-kinds.ts";

const CRD: JsonObject = {
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList", shortNames: ["th"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  n: { type: "integer", maximum: 10 },
                  s: { type: "string", maxLength: 10 },
                },
                "x-kubernetes-validations": [
                  { rule: "!has(self.s) || self.s != 'bad'", message: "s is bad" },
                ],
              },
              status: {
                type: "object",
                properties: { replicas: { type: "integer" }, selector: { type: "string" } },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.n",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
        additionalPrinterColumns: [{ name: "N", type: "integer", jsonPath: ".spec.n", priority: 1 }],
        selectableFields: [{ jsonPath: ".spec.s" }],
      },
      {
        name: "v1beta1",
        served: false,
        storage: false,
        deprecated: true,
        schema: { openAPIV3Schema: { type: "object" } },
      },
    ],
  },
};
await prepareCrd(CRD);
const [v1, beta] = servedKinds(CRD);

test("each version becomes a kind with what it declares", () => {
  expect(v1).toMatchObject({
    group: "example.com",
    version: "v1",
    kind: "Thing",
    listKind: "ThingList",
    plural: "things",
    shortNames: ["th"],
    namespaced: true,
    served: true,
    storage: true,
    subresources: { status: true, scale: { specReplicasPath: ".spec.n" } },
    printerColumns: [{ name: "N", type: "integer", jsonPath: ".spec.n", priority: 1 }],
    selectableFields: ["spec.s"],
  });
  expect(beta).toMatchObject({
    version: "v1beta1",
    served: false,
    deprecationWarning: "example.com/v1beta1 Thing is deprecated",
  });
});

test("an object is validated by its schema, then by its rules", () => {
  expect(v1 && finishNow(v1.validate(matcher(), { spec: { n: 11, s: "bad" } }))).toEqual([
    {
      reason: "FieldValueInvalid",
      field: "spec.n",
      message: "Invalid value: 11: spec.n in body should be less than or equal to 10",
    },
    { reason: "FieldValueInvalid", field: "spec", message: "Invalid value: s is bad" },
  ]);
});

test("rules are left out, and said to be, when a fault could mislead them", () => {
  const causes = v1 ? finishNow(v1.validate(matcher(), { spec: { n: "x", s: "bad" } })) : [];
  expect(causes.map((cause) => `${cause.field}: ${cause.message}`)).toEqual([
    'spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"',
    ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64",
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
  ]);
});

test("a write to status is validated by the schema of status", () => {
  const old = { spec: { n: 11 }, status: {} };
  const next = { spec: { n: 11 }, status: { replicas: "x" } };
  expect(v1 && finishNow(v1.validate(matcher(), next, old, "status"))[0]).toEqual({
    reason: "FieldValueTypeInvalid",
    field: "status.replicas",
    message: 'Invalid value: "string": replicas in body must be of type integer: "string"',
  });
});

test("scale shows replicas and selector, and writes replicas back", () => {
  const paths = v1?.subresources.scale;
  if (paths === undefined) throw new Error("no scale");
  const object: JsonObject = {
    metadata: { name: "x", labels: { a: "b" } },
    spec: { n: 4 },
    status: { replicas: 2, selector: "x=y" },
  };
  expect(scaleOf(object, paths)).toEqual({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name: "x" },
    spec: { replicas: 4 },
    status: { replicas: 2, selector: "x=y" },
  });
  applyScale(object, paths, { spec: { replicas: 7 } });
  expect(object.spec).toEqual({ n: 7 });
  expect(scaleOf({ metadata: {} }, paths)).toBeUndefined();
});

test("names that no other kind has are accepted, and the kind is established", () => {
  const { acceptedNames, conditions } = decideNames(CRD, [CRD], "2024-01-01T00:00:00Z");
  expect(acceptedNames).toEqual({
    plural: "things",
    singular: "thing",
    kind: "Thing",
    listKind: "ThingList",
    shortNames: ["th"],
  });
  expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ["NamesAccepted", "True", "NoConflicts"],
    ["Established", "True", "InitialNamesAccepted"],
  ]);
});

test("a name that is taken stays with who has it", () => {
  const other: JsonObject = {
    metadata: { name: "others.example.com" },
    spec: { group: "example.com" },
    status: { acceptedNames: { plural: "others", kind: "Thing", listKind: "OtherList" } },
  };
  const { acceptedNames, conditions } = decideNames(CRD, [other], "2024-01-01T00:00:00Z");
  expect(acceptedNames).toMatchObject({ plural: "things", kind: "" });
  expect(conditions).toMatchObject([
    { type: "NamesAccepted", status: "False", reason: "KindConflict", message: '"Thing" is already in use' },
    { type: "Established", status: "False", reason: "NotAccepted" },
  ]);
});
