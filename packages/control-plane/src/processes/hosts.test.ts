import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { storedObject } from "../storage/stored.fixture.ts";
import type { Stored } from "../storage/typed.ts";
import { hostsText } from "./hosts.ts";

function object<T extends { readonly metadata: object }>(
  kind: string,
  name: string,
  namespace: string,
  content: JsonObject = {},
): Stored<T> {
  const labels = kind === "EndpointSlice" ? { "kubernetes.io/service-name": name } : {};
  const apiVersion = kind === "EndpointSlice" ? "discovery.k8s.io/v1" : "v1";
  return storedObject({ apiVersion, kind, metadata: { name, namespace, uid: name, labels }, ...content });
}

test("a pod finds Services by the names that a cluster's DNS has for them", () => {
  const text = hostsText({
    pod: object("Pod", "web-0", "shop", { spec: { hostAliases: [{ ip: "127.5.0.9", hostnames: ["old"] }] } }),
    podAddress: "127.5.0.2",
    services: [
      object("Service", "db", "shop", { spec: { clusterIP: "127.133.0.1" } }),
      object("Service", "mail", "office", { spec: { clusterIP: "127.133.0.2" } }),
      object("Service", "peers", "shop", { spec: { clusterIP: "None" } }),
      object("Service", "elsewhere", "shop", { spec: { type: "ExternalName" } }),
    ],
    slices: [
      object("EndpointSlice", "peers", "shop", {
        endpoints: [
          { addresses: ["127.5.0.3"], hostname: "peers-0", conditions: { ready: true } },
          { addresses: ["127.5.0.4"], conditions: { ready: false } },
        ],
      }),
    ],
  });
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  expect(lines.slice(3)).toEqual([
    ["127.5.0.2", "web-0"],
    ["127.5.0.9", "old"],
    ["127.133.0.1", "db.shop.svc.cluster.local", "db.shop.svc", "db.shop", "db"],
    ["127.133.0.2", "mail.office.svc.cluster.local", "mail.office.svc", "mail.office"],
    [
      "127.5.0.3",
      "peers-0.peers.shop.svc.cluster.local",
      "peers-0.peers.shop.svc",
      "peers-0.peers.shop",
      "peers-0.peers",
      "peers.shop.svc.cluster.local",
      "peers.shop.svc",
      "peers.shop",
      "peers",
    ],
  ]);
});

test("a headless Service without endpoints has no names", () => {
  const text = hostsText({
    pod: object("Pod", "web-0", "shop", { spec: {} }),
    podAddress: "127.5.0.2",
    services: [object("Service", "peers", "shop", { spec: { clusterIP: "None" } })],
    slices: [object("EndpointSlice", "peers", "shop", { endpoints: [] })],
  });
  expect(text).not.toContain("peers");
});
