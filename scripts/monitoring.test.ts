import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { applyManifest, asManifest, Client } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { CustomResourceDefinition, Namespace } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { dump, load, loadAll } from "js-yaml";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const operators = await readdir(join(root, "operators"));
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
/** Those of the Prometheus operator. */
const definitions = ["podmonitors", "servicemonitors"].map((plural) =>
  join(root, "..", "shared", "lab", "crds", `monitoring.coreos.com_${plural}.yaml`),
);

const textOf = (operator: string, file: string) =>
  readFile(join(root, "operators", operator, "config", "monitoring", file), "utf8");
const read = async (operator: string, file: string) => load(await textOf(operator, file));

interface Rules {
  readonly spec: { readonly groups: readonly unknown[] };
}
interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

/** A panel is of the range that is looked at. */
const withRange = (expr: string) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$__interval", "1m");

test.runIf(hasPromtool).for(operators)("Prometheus takes the alerts and the graphs of %s", async (name) => {
  const folder = await mkdtemp(join(tmpdir(), "windlass-rules-"));
  try {
    const rules = (await read(name, "prometheus-rule.yaml")) as Rules;
    await writeFile(join(folder, "alerts.yaml"), dump({ groups: rules.spec.groups }));
    const { data } = (await read(name, "dashboard.yaml")) as { readonly data: Record<string, string> };
    const expressions = Object.values(data).flatMap((text) =>
      (JSON.parse(text) as Dashboard).panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    );
    expect(expressions.length).toBeGreaterThan(5);
    const recorded = expressions.map((expr, index) => ({ record: `panel:${index}`, expr: withRange(expr) }));
    await writeFile(join(folder, "panels.yaml"), dump({ groups: [{ name: "panels", rules: recorded }] }));
    const files = ["alerts.yaml", "panels.yaml"].map((file) => join(folder, file));
    const { stdout } = await run("promtool", ["check", "rules", ...files]);
    expect(stdout).toContain(`SUCCESS: ${expressions.length} rules found`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.runIf(definitions.every((file) => existsSync(file)))(
  "the Prometheus operator's definitions take what is generated for it",
  async () => {
    await using plane = await ControlPlane.start({ controllers: "none" });
    await using client = new Client({ transport: plane.connect(), onWarning: () => undefined });
    for (const file of definitions) {
      const definition = asManifest(load(await readFile(file, "utf8")), file);
      await applyManifest(client, definition, { force: true });
      await waitForCondition(
        client,
        CustomResourceDefinition,
        { name: definition.metadata.name },
        "Established",
      );
    }
    // It learns what the server serves once.
    await using user = new Client({ transport: plane.connect(), onWarning: () => undefined });
    const kinds = new Set<string>();
    for (const operator of operators)
      for (const document of loadAll(await textOf(operator, "service-monitor.yaml"))) {
        const manifest = asManifest(document, operator);
        const { namespace = "" } = manifest.metadata;
        await user.apply(Namespace, { metadata: { name: namespace } }, { force: true });
        // Unknown fields are refused.
        await applyManifest(user, manifest, { force: true, fieldValidation: "Strict" });
        kinds.add(manifest.kind);
      }
    expect([...kinds].toSorted()).toEqual(["PodMonitor", "ServiceMonitor"]);
  },
);
