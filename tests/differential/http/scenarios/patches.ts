import type { Sequence } from "../sequence.ts";
import { at, configMap, deployment, get, patch, post, widget } from "./requests.ts";

const one = `${at.configMaps}/a`;
const custom = `${at.widgets}/w`;
const ops = (...operations: object[]) => operations;

const inPod = (spec: object) => ({ spec: { template: { spec } } });

export const patches: readonly Sequence[] = [
  {
    name: "merge patches",
    steps: [one, custom].flatMap((path) => [
      path === one ? post(at.configMaps, configMap("a")) : post(at.widgets, widget("w")),
      patch("merge", path, { metadata: { labels: { a: "b" } } }),
      patch("merge", path, {}),
      patch("merge", path, { metadata: { labels: { a: null } } }),
      patch("merge", path, { metadata: { resourceVersion: "1" } }),
      patch("merge", path, { metadata: { resourceVersion: "abc" } }),
      patch("merge", path, { metadata: { name: "x" } }),
      patch("merge", path, { metadata: { name: "" } }),
      patch("merge", path, { metadata: { namespace: "x" } }),
      patch("merge", path, { metadata: { uid: "x" } }),
      patch("merge", path, { metadata: { uid: null, creationTimestamp: null, generation: 0 } }),
      patch("merge", path, { metadata: { creationTimestamp: "2020-01-01T00:00:00Z" } }),
      patch("merge", path, { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } }),
      patch("merge", path, { metadata: { deletionGracePeriodSeconds: 3 } }),
      patch("merge", path, { metadata: { labels: { "a b": "c d" } } }),
      patch("merge", path, { metadata: { ownerReferences: [{ name: "x" }] } }),
      patch("merge", path, { metadata: { managedFields: [{}] } }),
      patch("merge", path, { metadata: null }),
      patch("merge", path, { kind: "Foo" }),
      patch("merge", path, { apiVersion: "v9" }),
      patch("merge", path, { kind: null }),
      patch("merge", path, "{x"),
      patch("merge", path, "[]"),
      patch("merge", path, "null"),
      patch("merge", path, "1"),
      patch("merge", path, '"x"'),
      patch("merge", path, ""),
      patch("merge", `${path}z`, { metadata: {} }),
      patch("merge", `${path}?force=true`, {}),
      patch("merge", `${path}?force=x`, {}),
      patch("merge", `${path}?fieldValidation=Strict`, { bogus: 1, metadata: { labels: { z: "1" } } }),
      patch("merge", `${path}?fieldValidation=Warn`, { bogus: 1, metadata: { labels: { z: "1" } } }),
      patch("merge", `${path}?dryRun=All`, { metadata: { labels: { dry: "1" } } }),
      { method: "PATCH", path, body: {} },
      { method: "PATCH", path, body: {}, contentType: "text/plain" },
      { method: "PATCH", path, body: {}, contentType: "application/merge-patch+json; charset=utf-8" },
      { method: "PATCH", path, body: "x", contentType: "application/apply-patch+cbor" },
      get(path),
    ]),
  },
  {
    name: "JSON patches",
    steps: [one, custom].flatMap((path) => [
      path === one ? post(at.configMaps, configMap("a")) : post(at.widgets, widget("w")),
      patch("json", path, ops({ op: "add", path: "/metadata/labels", value: { a: "b" } })),
      patch("json", path, ops({ op: "test", path: "/metadata/name", value: "wrong" })),
      patch("json", path, ops({ op: "test", path: "/metadata/labels/a", value: "b" })),
      patch("json", path, ops({ op: "add", path: "/nope/deep", value: 1 })),
      patch("json", path, ops({ op: "remove", path: "/nope" })),
      patch("json", path, ops({ op: "replace", path: "/metadata/labels/zz", value: "1" })),
      patch("json", path, ops({ op: "xx", path: "/metadata" })),
      patch("json", path, { op: "x" }),
      patch("json", path, "{x"),
      patch("json", path, "[1]"),
      patch("json", path, ops({ op: "add" })),
      patch("json", path, []),
      patch("json", path, ops({ op: "copy", from: "/metadata/labels/a", path: "/metadata/labels/c" })),
      patch("json", path, ops({ op: "move", from: "/metadata/labels/a", path: "/metadata/labels/d" })),
      patch("json", path, ops({ op: "remove", path: "/metadata/managedFields" })),
      patch("json", path, ops({ op: "replace", path: "", value: {} })),
      get(path),
    ]),
  },
  {
    name: "strategic merge patches",
    steps: [
      post(at.deployments, deployment("d")),
      patch("strategic", `${at.deployments}/d`, {
        spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } },
      }),
      patch("strategic", `${at.deployments}/d`, {
        spec: { template: { spec: { containers: [{ name: "side", $patch: "delete" }] } } },
      }),
      patch("strategic", `${at.deployments}/d`, { metadata: { finalizers: ["x.io/a"] } }),
      patch("strategic", `${at.deployments}/d`, { metadata: { finalizers: ["x.io/b"] } }),
      patch("strategic", `${at.deployments}/d`, {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["x.io/a", "x.io/b"] },
      }),
      patch("strategic", `${at.deployments}/d`, {
        spec: { replicas: 3, selector: { matchLabels: { x: "y" } } },
      }),
      patch("strategic", `${at.deployments}/d`, { spec: { replicas: "x" } }),
      patch("strategic", `${at.deployments}/d`, { spec: "x" }),
      patch("strategic", `${at.deployments}/d`, {
        spec: { template: { spec: { containers: [{ image: "nokey" }] } } },
      }),
      patch("strategic", `${at.deployments}/d`, { $patch: "replace" }),
      patch("strategic", `${at.deployments}/d`, "[]"),
      patch("strategic", `${at.deployments}/d`, "{x"),
      post(at.widgets, widget("w")),
      patch("strategic", `${at.widgets}/w`, { spec: { size: 2 } }),
      get(`${at.deployments}/d`),
    ],
  },
  {
    name: "directives of strategic patches",
    steps: [
      post(at.deployments, deployment("o", {}, { finalizers: ["x.io/a", "x.io/b"] })),
      ...[
        { "$setElementOrder/nope": ["a"] },
        { spec: { "$setElementOrder/nope": [{ name: "a" }] } },
        inPod({ "$setElementOrder/nope": [{ name: "a" }] }),
        inPod({ "$setElementOrder/containers": [{ name: "zz" }] }),
        inPod({ "$setElementOrder/containers": "x" }),
        inPod({
          "$setElementOrder/containers": [{ name: "main" }],
          containers: [
            { name: "main", "$setElementOrder/env": [{ name: "y" }], env: [{ name: "y", value: "1" }] },
          ],
        }),
        inPod({ $setElementOrder: [] }),
        { metadata: { "$setElementOrder/finalizers": ["x.io/b", "x.io/a"] } },
        { metadata: { "$setElementOrder/labels": ["x"] } },
        { metadata: { "$deleteFromPrimitiveList/finalizers": ["x.io/b"] } },
        { metadata: { "$deleteFromPrimitiveList/nope": ["x.io/b"] } },
        { spec: { $retainKeys: ["nope"] } },
        { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
        { $patch: "nope" },
        { metadata: { $patch: "delete" } },
        inPod({ containers: [{ $patch: "delete" }] }),
        inPod({
          containers: [
            { name: "main", $patch: "delete" },
            { name: "e", image: "j" },
          ],
        }),
        inPod({ containers: [{ $patch: "replace" }, { name: "f", image: "k" }] }),
        inPod({ containers: [{ image: "k" }] }),
        inPod({ containers: ["x"] }),
        inPod({ volumes: [{ name: "v", emptyDir: {} }] }),
        inPod({ volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "x" } }] }),
      ].map((change) => patch("strategic", `${at.deployments}/o`, change)),
    ],
  },
];
