import { Service } from "@windlass/runtime/kinds";
import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { ElastiService } from "./elasti-service.ts";
import { divertingLabel } from "./names.ts";
import { endpointsAmong, privateServiceFor, resolverSlicesFor } from "./objects.ts";

const elasti = existing(ElastiService, {
  metadata: { namespace: "shop", name: "web" },
  spec: { service: "web" },
}).object;
const service = existing(Service, {
  metadata: { namespace: "shop", name: "web", labels: { "argocd.argoproj.io/instance": "shop" } },
  spec: {
    type: "LoadBalancer",
    clusterIP: "10.0.0.7",
    ipFamilies: ["IPv4", "IPv6"],
    ipFamilyPolicy: "PreferDualStack",
    selector: { app: "web", [divertingLabel]: "web" },
    ports: [
      { name: "http", port: 80, targetPort: "web", protocol: "TCP", nodePort: 30_080 },
      { name: "grpc", port: 9000, targetPort: 9001, appProtocol: "kubernetes.io/h2c" },
    ],
  },
}).object;
const ports = [
  { name: "http", port: 80, listenPort: 20_000 },
  { name: "grpc", port: 9000, listenPort: 20_001 },
];
const resolvers = [
  { address: "10.1.0.1", family: "IPv4", isReady: true, nodeName: "n1", zone: "z1" },
  { address: "10.1.0.2", family: "IPv4", isReady: false },
  { address: "fd00::1", family: "IPv6", isReady: true, nodeName: "n1" },
] as const;

test("each family of a Service has an EndpointSlice with every port, and the replicas that are ready", () => {
  const among = endpointsAmong(resolvers, true);
  const slices = resolverSlicesFor(elasti, service, ports, among).map(({ object }) => object);
  expect(slices.map(({ addressType }) => addressType)).toEqual(["IPv4", "IPv6"]);
  for (const { metadata, ports: listed } of slices) {
    expect(metadata.labels).toMatchObject({
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "elasti-operator.windlass.dev",
    });
    expect(listed).toEqual([
      { name: "http", port: 20_000, protocol: "TCP" },
      { name: "grpc", port: 20_001, protocol: "TCP", appProtocol: "kubernetes.io/h2c" },
    ]);
  }
  expect(slices.map(({ endpoints }) => endpoints)).toEqual([
    [
      {
        addresses: ["10.1.0.1"],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: "n1",
        zone: "z1",
      },
    ],
    [
      {
        addresses: ["fd00::1"],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: "n1",
      },
    ],
  ]);
});

test("a Service without pods leads to a resolver that is not ready rather than nowhere", () => {
  const none = resolvers.map((one) => ({ ...one, isReady: false }));
  expect(endpointsAmong(none, true)).toEqual(none);
  expect(endpointsAmong(none, false)).toEqual([]);
  const [slice] = resolverSlicesFor(elasti, service, ports, endpointsAmong(none, true));
  // Marked as ready: no connection goes to an endpoint that is not.
  expect(slice?.object.endpoints).toMatchObject([
    { addresses: ["10.1.0.1"], conditions: { ready: true } },
    { addresses: ["10.1.0.2"], conditions: { ready: true } },
  ]);
});

test("the private Service lists the same pods, and is no load balancer or GitOps object", () => {
  const { object } = privateServiceFor(elasti, service);
  expect(object.spec).toMatchObject({
    type: "ClusterIP",
    clusterIP: "None",
    selector: { app: "web" },
    ipFamilies: ["IPv4", "IPv6"],
  });
  expect(object.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(["web", 9001]);
  expect(object.spec?.ports?.every((port) => !("nodePort" in port))).toBe(true);
  expect(object.metadata.labels).not.toHaveProperty("argocd.argoproj.io/instance");
});
