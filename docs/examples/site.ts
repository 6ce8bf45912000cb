import { createHash } from "node:crypto";
import {
  byLabel,
  byReference,
  child,
  condition,
  controller,
  defineResource,
  every,
  watch,
} from "@windlass/runtime";
import { ConfigMap, Deployment, Pod } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Site = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({
    image: z.string().min(1),
    settings: z.string().optional().describe("A ConfigMap in the same namespace"),
    team: z.string().default("nobody"),
  }),
  status: z.object({ pods: z.int32().optional(), neighbours: z.array(z.string()).optional() }),
});

const siteLabel = "example.com/site";

export const site = controller(Site, {
  owns: [Deployment],
  watches: [
    watch(
      ConfigMap,
      byReference(Site, ({ spec }) => spec.settings),
    ),
    watch(Pod, byLabel(siteLabel), { scope: { labelSelector: siteLabel } }),
  ],
  indexes: { team: ({ spec }) => [spec.team] },
  sources: [every("1h")],
  timeout: "30s",
  reconcile: ({ metadata: { name, namespace }, spec: { image, settings, team } }, { cache, metrics }) => {
    const found = settings === undefined ? undefined : cache.get(ConfigMap, { namespace, name: settings });
    if (settings !== undefined && found === undefined) {
      metrics.counter({ name: "sites_without_settings_total", help: "Sites that lack their settings" }).inc();
      return {
        status: {
          conditions: [condition("Ready", false, "SettingsMissing", `there is no ConfigMap ${settings}`)],
        },
      };
    }
    const pods = cache.list(Pod, { namespace, labelSelector: `${siteLabel}=${name}` });
    const neighbours = cache.byIndex(Site, "team", team).filter(({ metadata }) => metadata.name !== name);
    const labels = { [siteLabel]: name };
    const annotations = { "example.com/settings": hashOf(found?.data) };
    const template = { metadata: { labels, annotations }, spec: { containers: [{ name: "site", image }] } };
    return {
      children: [
        child(Deployment, { metadata: { name }, spec: { selector: { matchLabels: labels }, template } }),
      ],
      status: {
        pods: pods.length,
        neighbours: neighbours.map(({ metadata }) => metadata.name).toSorted(),
        conditions: [condition("Ready", pods.length > 0, "PodsRunning")],
      },
    };
  },
});

/** Changes when the settings do, and so rolls the pods. */
function hashOf(data: Readonly<Record<string, string>> = {}): string {
  const keys = Object.keys(data).toSorted();
  const text = JSON.stringify(keys.map((key) => [key, data[key]]));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
