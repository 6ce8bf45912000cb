/** A package of tests that starts its own API server by KUBEBUILDER_ASSETS. */
export interface Suite {
  /** The folder within the module. */
  readonly folder: string;
  /** What runs its specs: Ginkgo tells more than Go's own `testing`. */
  readonly runner: "ginkgo" | "go";
}

/** A third-party project, from the Go module proxy. */
export interface Project {
  readonly module: string;
  readonly version: string;
  readonly suites: readonly Suite[];
}

const ginkgo = (...folders: string[]): Suite[] => folders.map((folder) => ({ folder, runner: "ginkgo" }));
const go = (...folders: string[]): Suite[] => folders.map((folder) => ({ folder, runner: "go" }));

export const projects: readonly Project[] = [
  {
    module: "sigs.k8s.io/controller-runtime",
    version: "v0.23.3",
    // All that start an API server from KUBEBUILDER_ASSETS. `pkg/client/apiutil` downloads one.
    suites: ginkgo(
      "pkg/envtest",
      "pkg/client",
      "pkg/cache",
      "pkg/builder",
      "pkg/manager",
      "pkg/cluster",
      "pkg/controller",
      "pkg/controller/controllerutil",
      "pkg/handler",
      "pkg/internal/controller",
      "pkg/internal/recorder",
      "pkg/internal/testing/controlplane",
      "pkg/metrics/filters",
      "pkg/source",
      "pkg/webhook",
    ),
  },
  { module: "github.com/open-policy-agent/cert-controller", version: "v0.16.0", suites: go("pkg/rotator") },
  { module: "github.com/fluxcd/pkg/ssa", version: "v0.78.0", suites: go(".", "jsondiff") },
];

/** Tests whose result differs, each with the reason. */
export const known: Readonly<Record<string, string>> = {
  "controller Warmup should not leak goroutines when manager is stopped with warmup runnable and with leader election enabled":
    "counts connections: the real server has one for all requests, by HTTP/2",
};
