import { uuid } from "@windlass/clock";
import { type JsonObject, textOf } from "../json.ts";
import { valueAt } from "../json-fields.ts";
import type { Entry, LogRecord, Store } from "../storage/store.ts";
import { timestamp } from "./metadata.ts";
import type { Registry } from "./registry.ts";
import { addressesBucket } from "./service-network.ts";

/** What the server writes of an IPAddress is the same for all. */
const ownedFields: JsonObject = {
  "f:metadata": {
    "f:labels": {
      ".": {},
      "f:ipaddress.kubernetes.io/ip-family": {},
      "f:ipaddress.kubernetes.io/managed-by": {},
    },
  },
  "f:spec": { "f:parentRef": { ".": {}, "f:name": {}, "f:namespace": {}, "f:resource": {} } },
};

/** Keeps an IPAddress for each address that a Service has, as the real server's allocator does. */
export class ServiceAddresses {
  readonly #registry: Pick<Registry, "store" | "clock" | "random">;
  #stop: () => void = () => undefined;

  constructor(registry: Pick<Registry, "store" | "clock" | "random">) {
    this.#registry = registry;
  }

  start(): void {
    const { store } = this.#registry;
    for (const entry of Array.from(store.entries("services"))) this.#put(entry);
    this.#stop = store.subscribe("services", (record) => {
      // A commit's listeners may not write.
      if (changesAddresses(record)) queueMicrotask(() => this.#follow(record));
    });
  }

  stop(): void {
    this.#stop();
  }

  #follow({ key, previous }: LogRecord): void {
    const { store } = this.#registry;
    const current = store.get("services", key);
    const kept = new Set(current ? addressesOf(current) : []);
    for (const address of previous ? addressesOf(previous) : []) {
      if (!kept.has(address) && parentOf(store, address) === key) store.delete(addressesBucket, address);
    }
    if (current) this.#put(current);
  }

  #put(service: Entry): void {
    const { store, clock, random } = this.#registry;
    for (const address of addressesOf(service)) {
      if (store.get(addressesBucket, address)) continue;
      const { name, namespace } = service.object.metadata;
      const time = timestamp(clock);
      store.put(addressesBucket, address, {
        apiVersion: "networking.k8s.io/v1",
        kind: "IPAddress",
        metadata: {
          name: address,
          uid: uuid(random),
          creationTimestamp: time,
          labels: {
            "ipaddress.kubernetes.io/ip-family": address.includes(":") ? "IPv6" : "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
          },
          managedFields: [
            {
              manager: "kube-apiserver",
              operation: "Update",
              apiVersion: "networking.k8s.io/v1",
              time,
              fieldsType: "FieldsV1",
              fieldsV1: ownedFields,
            },
          ],
        },
        spec: { parentRef: { resource: "services", namespace: textOf(namespace), name } },
      });
    }
  }
}

function addressesOf({ object }: Entry): readonly string[] {
  const addresses = valueAt(object, "spec", "clusterIPs");
  return Array.isArray(addresses) ? addresses.map(textOf).filter((address) => address !== "None") : [];
}

function changesAddresses({ type, entry, previous }: LogRecord): boolean {
  if (type !== "MODIFIED" || !previous) return true;
  return addressesOf(entry).join() !== addressesOf(previous).join();
}

/** The key of the Service that an address belongs to. */
function parentOf(store: Store, address: string): string {
  const object = store.get(addressesBucket, address)?.object;
  const part = (name: string) => textOf(valueAt(object, "spec", "parentRef", name));
  return object ? `${part("namespace")}/${part("name")}` : "";
}
