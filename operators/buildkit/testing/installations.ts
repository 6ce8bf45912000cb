import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** A way to install the operator on the cluster of KUBECONFIG. */
export interface Installation {
  /** Where the operator is then. */
  readonly namespace: string;
  install(): Promise<void>;
  /** Takes everything away but the definitions: with them would go the pools of all others. */
  uninstall(): Promise<void>;
}

const folder = join(import.meta.dirname, "..");
const chart = join(folder, "chart");

/**
 * Only pools in namespaces with this label are the installation's: others may be tested on the same
 * cluster.
 */
export const selectorLabel = "windlass.test/installation";

export function kubectl(args: readonly string[], input?: string): string {
  return execFileSync("kubectl", args, {
    encoding: "utf8",
    input,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "inherit"],
    maxBuffer: 64 * 1_024 * 1_024,
  });
}

export function helm(...args: string[]): string {
  return execFileSync("helm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/**
 * `kubectl apply --server-side -k config/default`, with a kustomization on top that selects
 * namespaces.
 */
export function byKustomize(label: string): Installation {
  const namespace = "buildkit-system";
  const withOverlay = async <T>(use: (path: string) => T): Promise<T> => {
    const path = await mkdtemp(join(tmpdir(), "buildkit-overlay-"));
    try {
      await writeFile(join(path, "kustomization.yaml"), JSON.stringify(overlay(path, label)));
      return use(path);
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  };
  return {
    namespace,
    install: async () => {
      await withOverlay((path) => kubectl(["apply", "--server-side", "--force-conflicts", "-k", path]));
    },
    uninstall: async () => {
      const all = await withOverlay((path) => kubectl(["kustomize", path]));
      const rest = all.split(/^---$/m).filter((one) => !one.includes("kind: CustomResourceDefinition\n"));
      kubectl(["delete", "--ignore-not-found", "--wait", "-f", "-"], rest.join("---\n"));
    },
  };
}

function overlay(path: string, label: string) {
  const selecting = (name: string, container: string) => ({
    patch: JSON.stringify({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "buildkit-system" },
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: container,
                env: [{ name: "NAMESPACE_SELECTOR", value: `${selectorLabel}=${label}` }],
              },
            ],
          },
        },
      },
    }),
  });
  return {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [relative(path, join(folder, "config", "default"))],
    patches: [
      selecting("buildkit-controller", "operator"),
      selecting("buildkit-controller-api", "api"),
      {
        patch: JSON.stringify({
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: "buildkit-system", labels: { [selectorLabel]: label } },
        }),
      },
    ],
  };
}

/** `helm install` of the chart, into a namespace of its own. */
export function byHelm(label: string, namespace: string): Installation {
  return {
    namespace,
    install: async () => {
      kubectl(["create", "namespace", namespace]);
      kubectl(["label", "namespace", namespace, `${selectorLabel}=${label}`]);
      const selector = `namespaceSelector=${selectorLabel}=${label}`;
      const patiently = ["--wait", "--timeout", "3m"];
      // The definitions may be there already, made by others.
      const over = ["--force-conflicts", "--take-ownership"];
      helm(
        "install",
        "buildkit-controller",
        chart,
        "-n",
        namespace,
        "--set-literal",
        selector,
        ...patiently,
        ...over,
      );
    },
    uninstall: async () => {
      helm("uninstall", "buildkit-controller", "--namespace", namespace, "--wait");
      kubectl(["delete", "namespace", namespace]);
    },
  };
}
