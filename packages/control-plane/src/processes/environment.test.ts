import type { Container, Pod, Service } from "@windlass/kinds/builtin";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import type { StoredObject } from "../storage/store.ts";
import { storedObject } from "../storage/stored.fixture.ts";
import type { Stored } from "../storage/typed.ts";
import { environmentOf, expand, type Finder, resourceField } from "./environment.ts";

const pod = storedObject<Pod>({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web-0",
    namespace: "shop",
    uid: "u",
    resourceVersion: "1",
    labels: { app: "web", "a/b": 'say "hi"' },
  },
  spec: { nodeName: "n", serviceAccountName: "robot", containers: [] },
});

function object(kind: string, name: string, content: JsonObject): StoredObject {
  return storedObject({
    apiVersion: "v1",
    kind,
    metadata: { name, namespace: "shop", uid: name, resourceVersion: "1" },
    ...content,
  });
}

const stored = new Map([
  ["configmaps/settings", object("ConfigMap", "settings", { data: { MODE: "fast", "log.level": "debug" } })],
  ["secrets/keys", object("Secret", "keys", { data: { TOKEN: Buffer.from("s3cret").toString("base64") } })],
]);

function make(container: Partial<Container>, services: readonly Stored<Service>[] = []) {
  return environmentOf({
    pod,
    container: { name: "main", ...container },
    podAddress: "127.5.0.2",
    hostAddress: "127.5.255.1",
    allocatable: { cpu: "64", memory: "256Gi" },
    find: ((bucket, name) => stored.get(`${bucket}/${name}`)) as Finder,
    services,
    apiServer: { host: "127.0.0.1", port: "6443" },
    base: new Map([["PATH", "/bin"]]),
  });
}

test("variables come from the pod, from ConfigMaps and from Secrets", () => {
  const env = make({
    envFrom: [{ configMapRef: { name: "settings" }, prefix: "CFG_" }, { secretRef: { name: "keys" } }],
    env: [
      { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "LABEL", valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } },
      { name: "LEVEL", valueFrom: { configMapKeyRef: { name: "settings", key: "log.level" } } },
      { name: "NOTHING", valueFrom: { secretKeyRef: { name: "absent", key: "x", optional: true } } },
    ],
  });
  expect(Object.fromEntries(env)).toMatchObject({
    PATH: "/bin",
    HOSTNAME: "web-0",
    CFG_MODE: "fast",
    TOKEN: "s3cret",
    NAME: "web-0",
    ADDRESS: "127.5.0.2",
    LABEL: 'say "hi"',
    LEVEL: "debug",
  });
  expect(env.has("NOTHING")).toBe(false);
});

test("a variable may be made of those before it, and of where Services are", () => {
  const service = storedObject<Service>(
    object("Service", "my-db", {
      spec: { clusterIP: "127.133.0.9", ports: [{ name: "sql", port: 5432, protocol: "TCP" }] },
    }),
  );
  const container = {
    env: [
      { name: "USER", value: "ada" },
      { name: "URL", value: "$(USER)@$(MY_DB_SERVICE_HOST):$(MY_DB_SERVICE_PORT_SQL) $$(USER) $(UNKNOWN)" },
    ],
  };
  const env = make(container, [service]);
  expect(env.get("URL")).toBe("ada@127.133.0.9:5432 $(USER) $(UNKNOWN)");
  expect(env.get("MY_DB_PORT")).toBe("tcp://127.133.0.9:5432");
  expect(env.get("MY_DB_PORT_5432_TCP_ADDR")).toBe("127.133.0.9");
  expect(env.get("KUBERNETES_SERVICE_HOST")).toBe("127.0.0.1");
});

test("a container's share of a resource is told in units of the divisor, rounded up", () => {
  const container = { name: "main", resources: { limits: { memory: "1Gi" }, requests: { cpu: "250m" } } };
  const sources = { pod, container, allocatable: { cpu: "64" } };
  const of = (resource: string, divisor?: string) =>
    resourceField(sources, { resource, ...(divisor === undefined ? {} : { divisor }) });
  expect(of("limits.memory", "1Mi")).toBe("1024");
  expect(of("requests.cpu")).toBe("1");
  expect(of("requests.cpu", "1m")).toBe("250");
  expect(of("limits.cpu")).toBe("64");
});

test("a text without dollar signs stays as it is, and doubled ones come out single", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll("$", "");
      expect(expand(plain, () => "x")).toBe(plain);
      expect(expand(text.replaceAll("$", "$$$$"), () => "x")).toBe(text);
    }),
  );
});
