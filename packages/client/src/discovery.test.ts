import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { Discovery } from "./discovery.ts";
import { ApiError } from "./errors.ts";

function aggregatedDocument(group: string, kinds: readonly string[]) {
  return {
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: { name: group },
        versions: ["v2", "v1"].map((version) => ({
          version,
          resources: kinds.map((kind) => ({
            resource: `${kind.toLowerCase()}s`,
            responseKind: { kind },
            scope: "Namespaced",
            singularResource: kind.toLowerCase(),
            verbs: ["get", "list"],
            shortNames: ["x"],
            subresources: [{ subresource: "status", verbs: ["get"] }],
          })),
        })),
      },
    ],
  };
}

const legacyDocuments: Record<string, unknown> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/api/v1": {
    resources: [
      {
        name: "pods",
        kind: "Pod",
        namespaced: true,
        singularName: "pod",
        verbs: ["get"],
        shortNames: ["po"],
      },
      { name: "pods/status", kind: "Pod", namespaced: true, verbs: ["get", "patch"] },
    ],
  },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        name: "apps",
        preferredVersion: { version: "v1" },
        versions: [{ version: "v1beta1" }, { version: "v1" }],
      },
      { name: "broken.io", versions: [{ version: "v1" }] },
    ],
  },
  "/apis/apps/v1": { resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: [] }] },
  "/apis/apps/v1beta1": {
    resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: [] }],
  },
};

test("the aggregated document is read in two requests, and the preferred version found first", async () => {
  const paths: string[] = [];
  const discovery = new Discovery(async (path) => {
    paths.push(path);
    return aggregatedDocument(path === "/api" ? "" : "example.com", ["Web", "Job"]);
  }, new ManualClock());
  expect(await discovery.find("example.com", "Job")).toEqual({
    group: "example.com",
    version: "v2",
    kind: "Job",
    plural: "jobs",
    singular: "job",
    scope: "Namespaced",
    verbs: ["get", "list"],
    shortNames: ["x"],
    categories: [],
    subresources: [{ name: "status", verbs: ["get"] }],
  });
  expect(await discovery.findResource("example.com", "webs", "v1")).toMatchObject({
    kind: "Web",
    version: "v1",
  });
  expect(paths).toEqual(["/api", "/apis"]);
});

test("a server without aggregated discovery is asked group by group, and a broken group hides no other", async () => {
  const discovery = new Discovery(async (path) => {
    const document = legacyDocuments[path];
    if (document === undefined) throw new ApiError({ code: 503 });
    return document;
  }, new ManualClock());
  expect(await discovery.find("apps", "Deployment")).toMatchObject({ version: "v1", plural: "deployments" });
  expect(await discovery.find("", "Pod")).toMatchObject({
    scope: "Namespaced",
    shortNames: ["po"],
    subresources: [{ name: "status", verbs: ["get", "patch"] }],
  });
  expect(await discovery.find("broken.io", "Thing")).toBeUndefined();
});

test("a kind that appears is found by the next question, which asks again at most every two seconds", async () => {
  const clock = new ManualClock();
  let fetches = 0;
  let kinds = ["Web"];
  const discovery = new Discovery(async () => {
    fetches++;
    return aggregatedDocument("example.com", kinds);
  }, clock);
  expect(await discovery.find("example.com", "Late")).toBeUndefined();
  kinds = ["Web", "Late"];
  expect(await discovery.find("example.com", "Late")).toBeUndefined();
  expect(fetches).toBe(2);
  await clock.advance(2_000);
  expect(await discovery.find("example.com", "Late")).toMatchObject({ kind: "Late" });
  expect(fetches).toBe(4);
  await clock.advance(60_000);
  expect(await discovery.find("example.com", "Web")).toMatchObject({ kind: "Web" });
  expect(fetches).toBe(4);
});

test("questions at the same time share one fetch, and a failed one is not kept", async () => {
  let fetches = 0;
  const discovery = new Discovery(async () => {
    fetches++;
    if (fetches <= 2) throw new ApiError({ code: 503 });
    return aggregatedDocument("example.com", ["Web"]);
  }, new ManualClock());
  await expect(discovery.find("example.com", "Web")).rejects.toThrow("503");
  const [one, two] = await Promise.all([discovery.find("example.com", "Web"), discovery.resources()]);
  expect(one).toMatchObject({ kind: "Web" });
  expect(two.length).toBeGreaterThan(0);
  expect(fetches).toBe(4);
});

test("documents of any other shape mean that nothing is served", async () => {
  for (const document of [
    null,
    [],
    "x",
    { kind: "APIGroupDiscoveryList", items: [null, { versions: [1] }] },
  ]) {
    const discovery = new Discovery(() => Promise.resolve(document), new ManualClock());
    expect(await discovery.resources()).toEqual([]);
  }
});

test("callers that miss a kind at the same time share one new discovery request", async () => {
  const clock = new ManualClock();
  let fetches = 0;
  let kinds: readonly string[] = ["Web"];
  const discovery = new Discovery(async (path) => {
    if (path === "/apis") fetches += 1;
    return aggregatedDocument(path === "/api" ? "" : "example.com", kinds);
  }, clock);
  await discovery.resources();
  await clock.advance(10_000);
  kinds = ["Web", "Job"];
  const found = await Promise.all(["Job", "Job", "Web"].map((kind) => discovery.find("example.com", kind)));
  expect(found.map((one) => one?.kind)).toEqual(["Job", "Job", "Web"]);
  expect(fetches).toBe(2);
});
