import fc from "fast-check";
import { expect, test } from "vitest";
import { readBootstrap } from "../auth/index.ts";
import { builtinKinds, compareVersions, type KindInfo, KindTable, kubernetesVersion } from "./index.ts";

function custom(group: string, version: string, plural: string): KindInfo {
  return {
    group,
    version,
    kind: plural.toUpperCase(),
    plural,
    singular: plural,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ["get"],
    subresources: [],
    listKind: `${plural.toUpperCase()}List`,
    origin: "custom",
    schema: () => ({}),
  };
}

test("built-in kinds are found by path and by kind", () => {
  const table = builtinKinds();
  const deployment = table.byResource("apps", "v1", "deployments");
  expect(deployment).toMatchObject({ kind: "Deployment", namespaced: true, shortNames: ["deploy"] });
  expect(table.byKind("apps", "v1", "Deployment")).toBe(deployment);
  expect(table.byResource("", "v1", "nodes")?.namespaced).toBe(false);
  expect(table.byResource("apps", "v1beta1", "deployments")).toBeUndefined();
});

test("a subresource has the kind of its bodies", () => {
  const pods = builtinKinds().byResource("", "v1", "pods");
  const eviction = pods?.subresources.find((each) => each.name === "eviction");
  expect(eviction?.kind).toEqual({ group: "policy", version: "v1", kind: "Eviction" });
  const status = pods?.subresources.find((each) => each.name === "status");
  expect(status?.kind).toEqual({ group: "", version: "v1", kind: "Pod" });
});

test("groups stand in the real server's order, custom ones after the built-in ones", () => {
  const table = builtinKinds();
  table.add(custom("example.com", "v1beta1", "things"));
  table.add(custom("example.com", "v1", "things"));
  table.add(custom("another.io", "v2alpha1", "others"));
  const groups = table.groups();
  expect(groups.slice(0, 4).map((group) => group.name)).toEqual([
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
  ]);
  expect(groups.slice(-2)).toEqual([
    { name: "another.io", versions: ["v2alpha1"] },
    { name: "example.com", versions: ["v1", "v1beta1"] },
  ]);
  expect(table.group("autoscaling")?.versions).toEqual(["v2", "v1"]);
});

test("a table changed by one server is not seen by another", () => {
  const first = builtinKinds();
  const second = builtinKinds();
  first.add(custom("example.com", "v1", "things"));
  expect(second.hasGroupVersion("example.com", "v1")).toBe(false);
});

test("every change raises the revision, and a removed kind is not found by either name", () => {
  const table = new KindTable();
  const kind = custom("example.com", "v1", "things");
  table.add(kind);
  const before = table.revision;
  table.remove(kind);
  expect(table.revision).toBeGreaterThan(before);
  expect(table.byResource("example.com", "v1", "things")).toBeUndefined();
  expect(table.byKind("example.com", "v1", "THINGS")).toBeUndefined();
  expect(table.groups()).toEqual([]);
});

test("all that is recorded is of one version", () => {
  const { gitVersion, major, minor } = kubernetesVersion();
  expect(gitVersion).toMatch(new RegExp(String.raw`^v${major}\.${minor}\.\d+$`));
  expect(readBootstrap().version).toBe(gitVersion);
});

test("every built-in kind and every subresource body has a schema", () => {
  for (const kind of builtinKinds().all()) {
    expect(kind.schema().type, kind.kind).toBe("object");
  }
});

test("references are linked, and what stands beside a reference is added to a copy", () => {
  const pod = builtinKinds().byKind("", "v1", "Pod")?.schema();
  const containers = pod?.properties?.spec?.properties?.containers;
  expect(containers).toMatchObject({
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": "name",
  });
  const limits = containers?.items?.properties?.resources?.properties?.limits;
  expect(limits?.additionalProperties).toMatchObject({ format: "quantity" });
  const lease = builtinKinds().byKind("coordination.k8s.io", "v1", "Lease")?.schema();
  expect(lease?.properties?.spec?.properties?.renewTime).toEqual({ type: "string", format: "micro-time" });
});

test("a recursive type is a cycle of nodes", () => {
  const definition = builtinKinds()
    .byKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    ?.schema();
  const props =
    definition?.properties?.spec?.properties?.versions?.items?.properties?.schema?.properties
      ?.openAPIV3Schema;
  expect(props?.properties?.not?.properties?.not).toBe(
    props?.properties?.not?.properties?.not?.properties?.not,
  );
});

const versions = fc.oneof(
  fc.stringMatching(/^v[1-9]\d?((alpha|beta)[1-9])?$/),
  fc.stringMatching(/^[a-z]{1,4}$/),
);

test("versions have one order, whatever order they come in", () => {
  fc.assert(
    fc.property(fc.array(versions, { maxLength: 8 }), (given) => {
      const sorted = [...given].sort((a, b) => compareVersions(b, a));
      const again = [...given].reverse().sort((a, b) => compareVersions(b, a));
      expect(again).toEqual(sorted);
    }),
  );
});

test("stable versions come before beta before alpha before the rest", () => {
  const sorted = ["v1beta1", "foo10", "v10", "v2", "v1alpha2", "v11beta2", "foo1", "v1"].sort((a, b) =>
    compareVersions(b, a),
  );
  expect(sorted).toEqual(["v10", "v2", "v1", "v11beta2", "v1beta1", "v1alpha2", "foo1", "foo10"]);
});
