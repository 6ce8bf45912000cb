import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import { builtin, controllerContext, createObject } from "../../controllers/objects.ts";

/** Where the API server would be in a cluster with a network. Nothing listens there. */
const advertised = "10.255.0.1";
const port = 6443;

/** Keeps the service by which programs in pods find the API server: `kubernetes` in `default`. */
export function startKubernetesService(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const context = {
    ...controllerContext(""),
    user: { name: "system:apiserver", groups: ["system:masters"] },
    fieldManager: "kube-apiserver",
  };
  const services = builtin(registry, "", "v1", "services");
  const slices = builtin(registry, "discovery.k8s.io", "v1", "endpointslices");
  const endpoints = builtin(registry, "", "v1", "endpoints");
  const name = "kubernetes";
  const concerns = ({ key }: { readonly key: string }) => (key === `default/${name}` ? [key] : []);

  return startLoop(deps, {
    name: "kubernetes-service",
    watches: {
      namespaces: ({ key }) => (key === "default" ? [`default/${name}`] : []),
      [services.bucket]: concerns,
      [slices.bucket]: concerns,
      [endpoints.bucket]: concerns,
    },
    reconcile: async (key) => {
      if (!registry.store.get("namespaces", "default")) return undefined;
      const ports = [{ name: "https", port, protocol: "TCP" }];
      if (!registry.store.get(services.bucket, key)) await createService();
      if (!registry.store.get(endpoints.bucket, key)) {
        const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" };
        const subsets = [{ addresses: [{ ip: advertised }], ports }];
        await createObject(registry, endpoints, "default", { metadata: { name, labels }, subsets }, context);
      }
      if (!registry.store.get(slices.bucket, key)) {
        const labels = { "kubernetes.io/service-name": name };
        const content = {
          addressType: "IPv4",
          endpoints: [{ addresses: [advertised], conditions: { ready: true } }],
          ports,
        };
        await createObject(registry, slices, "default", { metadata: { name, labels }, ...content }, context);
      }
      return undefined;
    },
  });

  async function createService(): Promise<void> {
    const { first } = registry.network.range;
    const metadata = { name, labels: { component: "apiserver", provider: "kubernetes" } };
    const spec = {
      type: "ClusterIP",
      clusterIP: first,
      ipFamilyPolicy: "SingleStack",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: port }],
    };
    await createObject(registry, services, "default", { metadata, spec }, context);
  }
}
