import type { ShardMap } from "../resharding/state.ts";
import {
  browserDocument,
  commonDocument,
  componentFiles,
  type Document,
  frontendDocument,
  type InternalTls,
  type Program,
  runnerDocument,
  type Shards,
  schedulerDocument,
  storageDocument,
  type Version,
  workerDocument,
} from "./index.ts";

/** A program's configuration, as the operator writes it for a set with its defaults. */
export interface Written {
  readonly program: Program;
  readonly entry: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The environment of every container. */
export const environment = { POD_NAME: "pod-0", NODE_NAME: "node-0" };

const platform = [
  { name: "container-image", value: "docker://ghcr.io/catthehacker/ubuntu:act-22.04" },
  { name: "OSFamily", value: "linux" },
];
const blocks = { old: 8, current: 24, spare: 3 };

/** The configuration of every program. */
export function everyConfiguration(
  version: Version,
  map: ShardMap,
  overrides?: string,
  tls?: InternalTls,
): readonly Written[] {
  const addressOf: Shards["addressOf"] = ({ ring, number }) => `storage-${ring}${number}.storage.builds:8981`;
  const shards = { map, addressOf, tls };
  const browserUrl = "http://bb-browser.example.com";
  const write = (
    program: Program,
    documents: Readonly<Record<string, Document>>,
    shared: object,
  ): readonly Written[] => {
    const files = componentFiles({
      common: commonDocument({ version, tls, ...shared }),
      documents,
      overrides,
    });
    const [entry = ""] = Object.keys(documents);
    return [{ program, entry, files }];
  };
  const worker = {
    "worker-ubuntu22-04.jsonnet": workerDocument({
      schedulerAddress: "scheduler:8983",
      tls,
      instanceNamePrefix: "",
      platform,
      sizeClass: 0,
      concurrency: 8,
      inputCache: { size: "1Gi", files: 10_000 },
    }),
  };
  return [
    ...write(
      "bb_storage",
      {
        "storage.jsonnet": storageDocument(
          version,
          {
            cas: { blocks: { ...blocks, size: "32Gi", new: 3 }, index: { size: "400Mi" } },
            ac: { blocks: { ...blocks, size: "20Mi", new: 1 }, index: { size: "1Mi" } },
          },
          tls,
        ),
      },
      {},
    ),
    ...write(
      "bb_storage",
      {
        "frontend.jsonnet": frontendDocument(
          version,
          [{ instanceNamePrefix: "", address: "scheduler:8982" }],
          undefined,
          tls,
        ),
      },
      { shards },
    ),
    ...write(
      "bb_scheduler",
      {
        "scheduler.jsonnet": schedulerDocument({
          version,
          storageAddress: "frontend:8980",
          tls,
          queues: [
            { instanceNamePrefix: "", platform, sizeClasses: [] },
            { instanceNamePrefix: "large", platform, sizeClasses: [1, 4] },
          ],
          defaultTimeout: "1800s",
          maximumTimeout: "7200s",
          noWorkersTimeout: "900s",
        }),
      },
      { browserUrl },
    ),
    ...write("bb_worker", worker, { shards, browserUrl }),
    ...write("bb_runner", { "runner-ubuntu22-04.jsonnet": runnerDocument(tls) }, {}),
    ...write("bb_browser", { "browser.jsonnet": browserDocument(version) }, { shards }),
  ];
}
