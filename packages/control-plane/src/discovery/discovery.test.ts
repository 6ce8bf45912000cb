import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { builtinKinds, type KindInfo, kubernetesVersion, storageVersionHash } from "../kinds/index.ts";
import {
  AggregatedDiscoveryDocuments,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  discoveryForm,
  versionInfo,
} from "./index.ts";

const widget: KindInfo = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  singular: "widget",
  namespaced: true,
  shortNames: ["wi"],
  categories: ["all"],
  verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
  storageVersionHash: storageVersionHash({ group: "example.com", version: "v1", kind: "Widget" }),
  subresources: [
    {
      name: "status",
      kind: { group: "example.com", version: "v1", kind: "Widget" },
      verbs: ["get", "patch", "update"],
    },
    {
      name: "scale",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      verbs: ["get", "patch", "update"],
    },
  ],
  listKind: "WidgetList",
  origin: "custom",
  schema: () => ({}),
};

/** What the recorded server answered, without groups that are not its own. */
const golden = JSON.parse(readFileSync(new URL("./discovery-golden.json", import.meta.url), "utf8")) as {
  readonly [root: string]: unknown;
};

test.for(["/api", "/apis"] as const)("the aggregated %s is the real server's, to the byte", (root) => {
  expect(new AggregatedDiscoveryDocuments(builtinKinds()).document(root).body).toBe(
    JSON.stringify(golden[root]),
  );
});

test("a custom kind is in the aggregated document with its group and version spelled out", () => {
  const table = builtinKinds();
  const documents = new AggregatedDiscoveryDocuments(table);
  const before = documents.document("/apis");
  table.add(widget);
  const after = documents.document("/apis");
  expect(after.etag).not.toBe(before.etag);
  const { items } = JSON.parse(after.body) as { items: object[] };
  expect(items.at(-1)).toMatchObject({
    metadata: { name: "example.com" },
    versions: [
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "widgets",
            responseKind: { group: "example.com", version: "v1", kind: "Widget" },
            subresources: [
              {
                subresource: "status",
                responseKind: { group: "example.com", version: "v1", kind: "Widget" },
              },
              { subresource: "scale", responseKind: { group: "autoscaling", version: "v1", kind: "Scale" } },
            ],
          },
        ],
      },
    ],
  });
  table.remove(widget);
  expect(documents.document("/apis").etag).toBe(before.etag);
});

test("the plain lists name subresources beside their resource, with a group only where it is another", () => {
  const table = builtinKinds();
  table.add(widget);
  const list = apiResourceList(table, "example.com", "v1");
  expect(list).toMatchObject({ apiVersion: "v1", groupVersion: "example.com/v1" });
  expect(list?.resources).toEqual([
    {
      name: "widgets",
      singularName: "widget",
      namespaced: true,
      kind: "Widget",
      verbs: widget.verbs,
      shortNames: ["wi"],
      categories: ["all"],
      storageVersionHash: widget.storageVersionHash,
    },
    {
      name: "widgets/status",
      singularName: "",
      namespaced: true,
      kind: "Widget",
      verbs: ["get", "patch", "update"],
    },
    {
      name: "widgets/scale",
      singularName: "",
      namespaced: true,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get", "patch", "update"],
    },
  ]);
  expect(apiResourceList(table, "example.com", "v2")).toBeUndefined();
});

test("the core group has versions of its own path and is no named group", () => {
  const table = builtinKinds();
  expect(apiVersions("127.0.0.1:6443")).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
  expect(apiResourceList(table, "", "v1")).not.toHaveProperty("apiVersion");
  expect(apiGroup(table, "")).toBeUndefined();
  expect((apiGroupList(table).groups as { name: string }[]).map((group) => group.name)).not.toContain("");
});

test("a group prefers its first version", () => {
  expect(apiGroup(builtinKinds(), "autoscaling")).toEqual({
    kind: "APIGroup",
    apiVersion: "v1",
    name: "autoscaling",
    versions: [
      { groupVersion: "autoscaling/v2", version: "v2" },
      { groupVersion: "autoscaling/v1", version: "v1" },
    ],
    preferredVersion: { groupVersion: "autoscaling/v2", version: "v2" },
  });
});

test("the first form that is asked for and served wins", () => {
  const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const v2beta1 = v2.replace("v=v2", "v=v2beta1");
  expect(discoveryForm(`${v2},${v2beta1},application/json`)).toBe("aggregated");
  expect(discoveryForm(`${v2beta1},application/json`)).toBe("plain");
  expect(discoveryForm("application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io")).toBe(
    "aggregated",
  );
  expect(discoveryForm(v2beta1)).toBeUndefined();
  expect(discoveryForm("text/html")).toBeUndefined();
  expect(discoveryForm("application/vnd.kubernetes.protobuf, application/json")).toBe("plain");
  expect(discoveryForm(undefined)).toBe("plain");
  fc.assert(fc.property(fc.string(), (accept) => void discoveryForm(accept)));
});

test("the version is that of the recorded Kubernetes", () => {
  const { gitVersion, major, minor } = kubernetesVersion();
  expect(versionInfo()).toMatchObject({ major, minor, gitVersion: `${gitVersion}+windlass` });
});
