import { type Random, seededRandom } from "@windlass/clock";
import { inParallel, type Loader } from "./load.ts";

/** The kinds that are synced, and how one object of each is made. */
export interface BenchKind {
  /** As the peer's `--kind` names it. */
  readonly name: string;
  readonly path: string;
  make(index: number): object;
}

const words =
  "server listen timeout upstream cache zone retry limit buffer header proxy pool keepalive region replica shard leader policy token tenant".split(
    " ",
  );
const teams = ["payments", "search", "identity", "media", "platform", "growth"];
const sizeBytes = 5_000;

/**
 * Objects of some 5 KB that resemble what clusters hold: words that repeat, names that do not, and
 * about two fifths of noise (digests, tokens) that no compression helps with. The same index gives
 * the same object.
 */
export const configMaps: BenchKind = {
  name: "configmaps",
  path: "/api/v1/namespaces/default/configmaps",
  make(index) {
    const random = seededRandom(index + 1);
    const lines: string[] = [];
    for (let length = 0; length < sizeBytes - 600; ) {
      const line = `${pick(random, words)}.${pick(random, words)}: ${random.next() < 0.55 ? phrase(random) : noise(random, 24)}`;
      lines.push(line);
      length += line.length + 1;
    }
    const half = Math.floor(lines.length / 2);
    return {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadata(random, index),
      data: {
        "application.yaml": lines.slice(0, half).join("\n"),
        "overrides.yaml": lines.slice(half).join("\n"),
        revision: noise(random, 20),
      },
    };
  },
};

/** Custom resources with the same bytes in many more fields. */
export const widgets: BenchKind = {
  name: "bench.windlass.dev/v1/widgets",
  path: "/apis/bench.windlass.dev/v1/namespaces/default/widgets",
  make(index) {
    const random = seededRandom(index + 1_000_003);
    const parts: object[] = [];
    for (let length = 0; length < sizeBytes - 700; ) {
      const part = {
        name: `${pick(random, words)}-${noise(random, 4)}`,
        image: `registry.example.com/${pick(random, teams)}/${pick(random, words)}@sha256:${noise(random, 32)}`,
        replicas: Math.floor(random.next() * 20),
        isPublic: random.next() < 0.5,
        ports: [{ name: "http", port: 8000 + Math.floor(random.next() * 1000) }],
        environment: Array.from({ length: 4 }, () => ({
          name: `${pick(random, words)}_${pick(random, words)}`.toUpperCase(),
          value: random.next() < 0.7 ? phrase(random) : noise(random, 16),
        })),
      };
      parts.push(part);
      length += JSON.stringify(part).length;
    }
    return {
      apiVersion: "bench.windlass.dev/v1",
      kind: "Widget",
      metadata: metadata(random, index),
      spec: { owner: pick(random, teams), parts },
    };
  },
};

/** What the server must know to store widgets. */
export const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.bench.windlass.dev" },
  spec: {
    group: "bench.windlass.dev",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  owner: { type: "string" },
                  parts: {
                    type: "array",
                    items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

/** Makes objects on the server, sixteen at a time. */
export async function fill(loader: Loader, kind: BenchKind, count: number): Promise<void> {
  await inParallel(count, 16, async (index) => {
    const status = await loader.send("POST", kind.path, JSON.stringify(kind.make(index)));
    if (status !== 201) throw new Error(`creating one of ${kind.name} was answered with ${status}`);
  });
}

function metadata(random: Random, index: number) {
  return {
    name: `object-${String(index).padStart(6, "0")}`,
    labels: {
      "app.kubernetes.io/name": pick(random, words),
      "app.kubernetes.io/part-of": pick(random, teams),
      "pod-template-hash": noise(random, 5),
    },
    annotations: {
      "example.com/checksum": noise(random, 32),
      "example.com/owner": `team-${pick(random, teams)}`,
    },
  };
}

function phrase(random: Random): string {
  return `${pick(random, words)} ${pick(random, words)} ${Math.floor(random.next() * 1000)}`;
}

function noise(random: Random, bytes: number): string {
  return Buffer.from(random.bytes(bytes)).toString("hex");
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random.next() * from.length)] as T;
}
