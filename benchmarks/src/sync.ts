import type { AnyKind } from "@windlass/client";
import { startBinaries } from "@windlass/testing";
import { openLoader } from "./load.ts";
import { type BenchKind, configMaps, fill, widgetDefinition, widgets } from "./objects.ts";
import { runOurs } from "./ours.ts";
import { findPeer, runPeer } from "./peer.ts";
import { findAssets } from "./real-server.ts";
import type { Result, Row } from "./table.ts";

interface Figures {
  readonly objects: number;
  readonly wall_seconds: number;
  readonly cpu_seconds: number;
  readonly bytes_per_object: number;
  readonly baseline_rss_bytes: number;
  readonly peak_rss_bytes: number;
  readonly longest_stall_ms?: number;
}

interface Subject {
  readonly what: string;
  readonly load: BenchKind;
  readonly kind: AnyKind;
  readonly metadataOnly: boolean;
  /** How the peer can hold the same objects. */
  readonly peers: readonly PeerForm[];
}

interface PeerForm {
  /** Said in each row; empty where there is but one form. */
  readonly beside: string;
  readonly flags: readonly string[];
}

const configMap = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
} as const;
const widget = { ...configMap, group: "bench.windlass.dev", kind: "Widget", plural: "widgets" } as const;

const subjects: readonly Subject[] = [
  {
    what: "ConfigMaps",
    load: configMaps,
    kind: configMap,
    metadataOnly: false,
    peers: [{ beside: "", flags: [] }],
  },
  {
    what: "ConfigMaps, metadata only",
    load: configMaps,
    kind: configMap,
    metadataOnly: true,
    peers: [{ beside: "", flags: ["--metadata-only"] }],
  },
  {
    what: "custom resources",
    load: widgets,
    kind: widget,
    metadataOnly: false,
    // Most of its users have structs, and those who write for any kind have none.
    peers: [
      { beside: ", beside Go structs", flags: ["--typed"] },
      { beside: ", beside unstructured objects", flags: [] },
    ],
  },
];

export const needs = [findAssets, () => findPeer()];

/**
 * Filling a cache from a real API server: ours and controller-runtime's in turn, on the same server
 * and the same objects.
 */
export async function run({ objects = 10_000 } = {}): Promise<Result> {
  const assets = findAssets();
  const peer = await findPeer();
  const rounds = objects > 20_000 ? 1 : 2;
  const rows: Row[] = [];
  // A server for each kind: one that holds all of them would need several times the memory.
  for (const load of [configMaps, widgets]) {
    const server = await startBinaries(assets);
    try {
      const kubeconfig = await server.kubeconfig();
      await fillServer(kubeconfig, load, objects);
      for (const subject of subjects.filter((each) => each.load === load))
        rows.push(...(await measure(peer, kubeconfig, subject, rounds)));
    } finally {
      await server.close();
    }
  }
  return {
    name: "sync",
    peer: "controller-runtime",
    rows,
    notes: [
      `${objects} objects of 5 KB, two fifths of it noise; managedFields left out by both; the best of ${rounds}, taken in turn on one server.`,
      "The API server runs on the same cores. The stall is the worst of all rounds, and includes the time in which the system ran something else.",
    ],
  };
}

async function fillServer(kubeconfig: string, load: BenchKind, objects: number): Promise<void> {
  const loader = await openLoader(kubeconfig, 16);
  if (load === widgets) {
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await loader.send("POST", definitions, JSON.stringify(widgetDefinition));
    await served(() => loader.send("GET", `${widgets.path}?limit=1`));
  }
  await fill(loader, load, objects);
  loader.close();
}

async function measure(
  peer: string,
  kubeconfig: string,
  { what, load, kind, metadataOnly, peers }: Subject,
  rounds: number,
): Promise<Row[]> {
  const ours: Figures[] = [];
  const theirs = peers.map(({ beside, flags }) => ({ beside, flags, figures: [] as Figures[] }));
  const common = ["sync", "--kubeconfig", kubeconfig, "--kind", load.name];
  for (let round = 0; round < rounds; round++) {
    ours.push((await runOurs("sync-child.ts", { kubeconfig, kind, metadataOnly })) as Figures);
    for (const { flags, figures } of theirs)
      figures.push((await runPeer(peer, [...common, ...flags])) as Figures);
  }
  return [
    ...theirs.flatMap(({ beside, figures }) => compare(what + beside, ours, figures)),
    {
      what: `${what}: longest stall of the event loop`,
      unit: "ms",
      ours: Math.max(...ours.map((figures) => figures.longest_stall_ms ?? 0)),
      better: "less",
    },
  ];
}

function compare(what: string, ours: readonly Figures[], theirs: readonly Figures[]): Row[] {
  const row = (name: string, unit: string, of: (figures: Figures) => number): Row => ({
    what: `${what}: ${name}`,
    unit,
    ours: Math.min(...ours.map(of)),
    peer: Math.min(...theirs.map(of)),
    better: "less",
  });
  return [
    row("time", "s", (figures) => figures.wall_seconds),
    row("CPU", "s", (figures) => figures.cpu_seconds),
    row("resident memory per object", "bytes", (figures) => figures.bytes_per_object),
    row("resident memory before", "MiB", (figures) => figures.baseline_rss_bytes / 2 ** 20),
    row("peak resident memory", "MiB", (figures) => figures.peak_rss_bytes / 2 ** 20),
  ];
}

async function served(ask: () => Promise<number>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await ask()) === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the server does not serve the custom resources");
}
