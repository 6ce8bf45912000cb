import { manager, migrateStoredVersions } from "@windlass/runtime";
import { ConfigMap, Deployment, Pod } from "@windlass/runtime/kinds";
import { existing, startCluster, testReconcile, waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Site, site } from "./site.ts";

test("a site without its settings says so, and is reconciled when they come and when they change", async () => {
  await using cluster = await startCluster();
  await cluster.install(Site);
  const namespace = await cluster.createNamespace();
  await cluster.run("site", (options) =>
    manager(options)
      .add(site)
      .add(migrateStoredVersions([Site])),
  );
  const key = { namespace, name: "shop" };
  await cluster.client.create(Site, { metadata: key, spec: { image: "nginx:1.25", settings: "colours" } });
  await waitFor(cluster.client, Site, key, ({ status }) =>
    status?.conditions?.find(({ reason }) => reason === "SettingsMissing"),
  );
  const settings = { namespace, name: "colours" };
  await cluster.client.create(ConfigMap, { metadata: settings, data: { main: "red" } });
  await waitForCondition(cluster.client, Site, key, "Ready");
  const hashOf = (live: Deployment) => live.spec.template.metadata?.annotations?.["example.com/settings"];
  const before = hashOf(await cluster.client.get(Deployment, key));
  const patch = { data: { main: "blue" } };
  await cluster.client.patch(ConfigMap, settings, { type: "merge", patch });
  await waitFor(cluster.client, Deployment, key, (live) => hashOf(live) !== before);
}, 30_000);

test("pods and neighbours are found by their indexes", async () => {
  const shop = Site.make({ namespace: "web", name: "shop" }, { image: "nginx:1.25", team: "retail" });
  const pod = (name: string, owner: string) =>
    existing(Pod, { metadata: { name, labels: { "example.com/site": owner } } });
  const neighbour = Site.make({ namespace: "web", name: "blog" }, { image: "x", team: "retail" });
  const { status } = await testReconcile(site, shop, {
    cache: [pod("a", "shop"), pod("b", "shop"), pod("c", "blog"), { kind: Site, object: neighbour }],
  });
  expect(status).toMatchObject({ pods: 2, neighbours: ["blog"] });
});

test("missing settings are counted", async () => {
  const shop = Site.make("shop", { image: "nginx:1.25", settings: "colours" });
  const { metrics } = await testReconcile(site, shop);
  expect(metrics.render()).toContain("sites_without_settings_total 1");
});
