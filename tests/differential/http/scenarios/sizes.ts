import type { Sequence } from "../sequence.ts";
import { at, configMap, get, patch, post, widget } from "./requests.ts";

const text = (bytes: number) => "x".repeat(bytes);
const events = "/api/v1/namespaces/{ns}/events";
const event = (name: string, bytes: number) => ({
  metadata: { name },
  involvedObject: { namespace: "{ns}" },
  message: text(bytes),
});

export const sizes: readonly Sequence[] = [
  {
    name: "objects that are too large",
    steps: [
      ...[1_000_000, 1_570_000, 1_573_000, 2_090_000, 2_200_000, 3_146_000].flatMap((bytes) => [
        post(at.widgets, widget(`w-${bytes}`, { extra: { text: text(bytes) } })),
        get(`${at.widgets}/w-${bytes}`),
        post(`${at.widgets}?dryRun=All`, widget(`dry-${bytes}`, { extra: { text: text(bytes) } })),
      ]),
      patch("merge", `${at.widgets}/w-1000000`, { spec: { extra: { more: text(1_000_000) } } }),
      get(`${at.widgets}/w-1000000`),
      post(events, event("a", 1_600_000)),
      post(events, event("b", 2_200_000)),
      post(at.configMaps, configMap("a", { a: text(1_048_576) })),
      post(at.configMaps, configMap("b", { a: text(1_048_577) })),
      post(at.configMaps, configMap("c", {}, { annotations: { a: text(262_145) } })),
    ],
  },
];
