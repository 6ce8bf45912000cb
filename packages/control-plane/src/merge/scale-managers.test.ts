import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { withScaledManagers, withScaleManagers } from "./scale-managers.ts";

const replicas = ["spec", "replicas"];
const apiVersion = "apps/v1";
const entry = (manager: string, fieldsV1: JsonObject, more: JsonObject = {}): JsonObject => ({
  manager,
  operation: "Update",
  apiVersion,
  time: "2024-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
  ...more,
});
const object = (...managedFields: JsonObject[]): JsonObject => ({ metadata: { name: "web", managedFields } });
const scale: JsonObject = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "web" } };
const owning = { "f:spec": { "f:replicas": {} } };

test("a scale is owned by those who own the replicas", () => {
  const live = object(entry("a", owning), entry("b", { "f:spec": { "f:paused": {} } }));
  const shown = withScaleManagers(scale, { object: live, apiVersion, replicas });
  expect(shown.metadata).toEqual({
    name: "web",
    managedFields: [entry("a", owning, { apiVersion: "autoscaling/v1" })],
  });
});

test("the manager that sets replicas through the scale owns them in an entry without a time, and no other does", () => {
  const live = object(entry("a", { "f:spec": { "f:paused": {}, "f:replicas": {} } }));
  const taken = {
    ...scale,
    metadata: { managedFields: [entry("b", owning, { apiVersion: "autoscaling/v1", subresource: "scale" })] },
  };
  const { metadata } = withScaledManagers(taken, { object: live, apiVersion, replicas });
  const { time: _time, ...untimed } = entry("b", owning, { subresource: "scale" });
  expect(metadata).toEqual({
    name: "web",
    managedFields: [untimed, entry("a", { "f:spec": { "f:paused": {} } })],
  });
});

test("what is owned of a scale besides its replicas is owned of nothing", () => {
  const live = object(entry("a", { "f:spec": { "f:paused": {} } }));
  const labelled = {
    ...scale,
    metadata: { managedFields: [entry("b", { "f:metadata": { "f:labels": {} } }, { subresource: "scale" })] },
  };
  expect(withScaledManagers(labelled, { object: live, apiVersion, replicas })).toEqual(live);
});
