import { CustomResourceDefinition } from "@windlass/kinds/builtin";
import { constantFrom, nat, property, assert as propertyHolds, record, string } from "fast-check";
import { expect, test } from "vitest";
import { existing } from "../testing/test-reconcile.ts";
import { checkpointAnnotation, planFor, readCheckpoint, writeCheckpoint } from "./plan.ts";

function definition(storage: string, storedVersions: readonly string[], checkpoint?: string) {
  return existing(CustomResourceDefinition, {
    metadata: {
      name: "webapps.example.com",
      generation: 3,
      ...(checkpoint === undefined ? {} : { annotations: { [checkpointAnnotation]: checkpoint } }),
    },
    spec: { versions: ["v1", "v2"].map((name) => ({ name, served: true, storage: name === storage })) },
    status: { storedVersions },
  }).object;
}

test("there is nothing to do while one version is stored", () => {
  expect(planFor(definition("v2", ["v2"]), "v2")).toEqual({ do: "nothing" });
});

test("objects are rewritten if others may be stored, and those versions are dropped", () => {
  expect(planFor(definition("v2", ["v1", "v2"]), "v2")).toEqual({
    do: "rewrite",
    generation: 3,
    after: undefined,
    drop: ["v1"],
  });
});

test("a definition that stores another version is waited for", () => {
  expect(planFor(definition("v1", ["v1"]), "v2")).toEqual({ do: "wait", storage: "v1" });
});

test("a checkpoint counts for the version and generation that it was made under, and no other", () => {
  const after = (checkpoint: string) => {
    const plan = planFor(definition("v2", ["v1", "v2"], checkpoint), "v2");
    return plan.do === "rewrite" ? plan.after : plan.do;
  };
  expect(after("v2 3 default/b")).toBe("default/b");
  expect(after("v2 2 default/b")).toBeUndefined();
  expect(after("v1 3 default/b")).toBeUndefined();
  expect(after("nonsense")).toBeUndefined();
});

test("a checkpoint reads as it was written", () => {
  const names = string({ minLength: 1 }).filter((text) => !/\s/.test(text));
  propertyHolds(
    property(
      record({ version: constantFrom("v1", "v2beta1"), generation: nat(), after: names }),
      (checkpoint) => {
        expect(readCheckpoint(writeCheckpoint(checkpoint))).toEqual(checkpoint);
      },
    ),
  );
});
