import type { KubernetesObject } from "@windlass/client";
import { expect, test } from "vitest";
import type { CacheEvent } from "../cache/contract.ts";
import {
  annotationsChanged,
  deletionRequested,
  finalizersChanged,
  generationChanged,
  intentChanged,
  labelsChanged,
  not,
  type Predicate,
} from "./predicate.ts";

const old: KubernetesObject = {
  metadata: {
    name: "web",
    resourceVersion: "1",
    generation: 1,
    labels: { a: "1", b: "2" },
    annotations: { note: "old" },
    finalizers: ["example.com/web"],
  },
};

/** The object, changed in its metadata. */
function update(metadata: Partial<KubernetesObject["metadata"]>): CacheEvent<KubernetesObject> {
  return {
    type: "updated",
    old,
    object: { metadata: { ...old.metadata, resourceVersion: "2", ...metadata } },
  };
}

test.for<[string, Predicate, Partial<KubernetesObject["metadata"]>]>([
  ["the generation", generationChanged, { generation: 2 }],
  ["a label", labelsChanged, { labels: { a: "1" } }],
  ["an annotation", annotationsChanged, { annotations: { note: "new" } }],
  ["the finalizers", finalizersChanged, { finalizers: [] }],
  ["a wish to delete", deletionRequested, { deletionTimestamp: "2026-01-01T00:00:00Z" }],
])("a change of %s passes its predicate and no other, and is one of intent", ([, predicate, change]) => {
  const all = [generationChanged, labelsChanged, annotationsChanged, finalizersChanged, deletionRequested];
  const event = update(change);
  expect(all.filter((one) => one(event))).toEqual([predicate]);
  expect(intentChanged(event)).toBe(true);
  expect(not(predicate)(event)).toBe(false);
});

test("what changes neither is no change of intent: a status, or the order of labels", () => {
  expect(intentChanged(update({ labels: { b: "2", a: "1" } }))).toBe(false);
});
