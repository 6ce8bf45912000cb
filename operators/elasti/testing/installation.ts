import { execFileSync } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, isNotFound } from "@windlass/client";
import { Deployment } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { ElastiService } from "../src/index.ts";

const folder = join(import.meta.dirname, "..");
const run = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
const kubectl = (...args: readonly string[]) => run("kubectl", ...args);

/**
 * Where an operator is installed, and the one namespace that it looks after: others may be
 * installed beside it.
 */
export interface Place {
  readonly system: string;
  readonly watched: string;
}

/**
 * A way to install the operator, and to remove all of it again except the CRD, which others may
 * use.
 */
export interface Installer {
  readonly by: "kustomize" | "helm";
  install(place: Place): Promise<void>;
  uninstall(place: Place): Promise<void>;
}

const components = {
  "elasti-operator": ["operator"],
  "elasti-operator-resolver": ["resolver", "resolver-twin"],
};

/**
 * The manifests of `config/default`, in another namespace, with an overlay as those write who want
 * one namespace watched.
 */
export const kustomize: Installer = {
  by: "kustomize",
  async install({ system, watched }) {
    const overlay = await mkdtemp(join(tmpdir(), "elasti-overlay-"));
    try {
      for (const part of ["base", "default"])
        await cp(join(folder, "config", part), join(overlay, part), { recursive: true });
      const patches = Object.entries(components).map(([name, containers]) => ({
        target: { kind: "Deployment", name },
        patch: JSON.stringify({
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name },
          spec: {
            template: {
              spec: {
                containers: containers.map((container) => ({
                  name: container,
                  env: [{ name: "WATCH_NAMESPACES", value: watched }],
                })),
              },
            },
          },
        }),
      }));
      const kustomization = { namespace: system, resources: ["default"], patches };
      await writeFile(join(overlay, "kustomization.yaml"), JSON.stringify(kustomization));
      kubectl("apply", "--server-side", "--force-conflicts", "-k", overlay);
    } finally {
      await rm(overlay, { recursive: true, force: true });
    }
  },
  async uninstall({ system }) {
    kubectl("delete", "deployments", "--all", "-n", system);
    removeNamespace(system);
    kubectl("delete", "clusterrole,clusterrolebinding", "-l", "app.kubernetes.io/part-of=elasti-operator");
  },
};

/** The chart, which leaves the CRD when it goes. */
export const helm: Installer = {
  by: "helm",
  async install({ system, watched }) {
    const chart = join(folder, "chart");
    const values = ["--set", `watchNamespaces=${watched},resolver.watchNamespaces=${watched}`];
    // The CRD may be there already, from another installation.
    const taking = ["--take-ownership", "--force-conflicts"];
    run(
      "helm",
      "install",
      "elasti-operator",
      chart,
      "-n",
      system,
      "--create-namespace",
      ...values,
      ...taking,
    );
  },
  async uninstall({ system }) {
    run("helm", "uninstall", "elasti-operator", "-n", system, "--wait");
    removeNamespace(system);
  },
};

/**
 * Without its pods: a namespace that still has some is looked at again only after half of the time
 * that they may take to end.
 */
function removeNamespace(name: string): void {
  kubectl("wait", "--for=delete", "pods", "--all", "-n", name, "--timeout=60s");
  kubectl("delete", "namespace", name);
}

/** Waits until every replica of the operator and of the resolver is available. */
export async function isUp(client: Client, { system }: Place): Promise<void> {
  for (const name of Object.keys(components))
    await waitFor(
      client,
      Deployment,
      { namespace: system, name },
      ({ spec, status }) => status?.availableReplicas === spec?.replicas,
      { timeout: 120_000 },
    );
}

/** Deletes all ElastiServices of a namespace, and waits until the operator has seen them off. */
export async function removeAll(client: Client, namespace: string): Promise<void> {
  try {
    await client.deleteCollection(ElastiService, { namespace });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  kubectl("wait", "--for=delete", "elastiservices", "--all", "-n", namespace, "--timeout=60s");
}
