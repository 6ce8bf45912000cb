import { seededRandom } from "../../../packages/clock/src/index.ts";
import type { Sending } from "../servers.ts";
import {
  at,
  configMap,
  deployment,
  get,
  type PatchType,
  patch,
  post,
  put,
  remove,
  widget,
} from "./scenarios/requests.ts";
import type { Sequence } from "./sequence.ts";

/** Draws from a seeded source: the same seed gives the same sequence. */
class Draw {
  readonly #random: { next(): number };

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  maybe<T extends object>(probability: number, value: () => T): T | Record<string, never> {
    return this.chance(probability) ? value() : {};
  }
}

interface Kind {
  readonly path: string;
  readonly builtin: boolean;
  readonly hasStatus: boolean;
  readonly scales: boolean;
  readonly make: (draw: Draw, name: string, metadata: object) => object;
  /** A change of its content, for merges and applies. */
  readonly change: (draw: Draw) => object;
  /** JSON pointers worth patching. */
  readonly pointers: readonly string[];
}

const letters = ["a", "b", "c", "d"];
const values = ["1", "2", "3"];

function someData(draw: Draw): Record<string, string> {
  return Object.fromEntries(letters.filter(() => draw.chance(0.5)).map((key) => [key, draw.pick(values)]));
}

function widgetSpec(draw: Draw): object {
  return {
    ...draw.maybe(0.5, () => ({ size: draw.pick([0, 1, 2, 100, ...(draw.chance(0.1) ? [-1, "x"] : [])]) })),
    ...draw.maybe(0.3, () => ({ color: draw.pick(["red", "green", ...(draw.chance(0.1) ? ["pink"] : [])]) })),
    ...draw.maybe(0.4, () => ({
      parts: letters
        .filter(() => draw.chance(0.4))
        .map((name) => ({ name, ...draw.maybe(0.5, () => ({ count: draw.below(4) })) })),
    })),
    ...draw.maybe(0.3, () => ({ tags: letters.filter(() => draw.chance(0.4)) })),
    ...draw.maybe(0.2, () => ({ extra: draw.pick<object>([{ x: 1 }, { x: { y: [1, 2] } }, {}]) })),
    ...draw.maybe(0.05, () => ({ bogus: 1 })),
  };
}

function containers(draw: Draw): object[] {
  return ["main", "side"]
    .filter((name) => name === "main" || draw.chance(0.3))
    .map((name) => ({
      name,
      image: `registry.example.com/${name}:${draw.pick(values)}`,
      ...draw.maybe(0.3, () => ({
        env: letters.filter(() => draw.chance(0.4)).map((key) => ({ name: key, value: draw.pick(values) })),
      })),
      ...draw.maybe(0.3, () => ({ ports: [{ containerPort: draw.pick([80, 81, 8080]) }] })),
    }));
}

const kinds: readonly Kind[] = [
  {
    path: at.configMaps,
    builtin: true,
    hasStatus: false,
    scales: false,
    make: (draw, name, metadata) => configMap(name, someData(draw), metadata),
    change: (draw) => ({ data: someData(draw) }),
    pointers: [
      "/data/a",
      "/data/b",
      "/data",
      "/metadata/labels/l",
      "/metadata/labels",
      "/metadata/annotations",
    ],
  },
  {
    path: at.secrets,
    builtin: true,
    hasStatus: false,
    scales: false,
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, ...metadata },
      ...draw.maybe(0.7, () => ({ stringData: someData(draw) })),
      ...draw.maybe(0.3, () => ({ data: { z: "eg==" } })),
      ...draw.maybe(0.2, () => ({ type: draw.pick(["Opaque", "example.com/own"]) })),
    }),
    change: (draw) => ({ stringData: someData(draw) }),
    pointers: ["/data/a", "/data", "/stringData", "/type", "/metadata/labels"],
  },
  {
    path: at.services,
    builtin: true,
    hasStatus: true,
    scales: false,
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, ...metadata },
      spec: {
        ports: [
          { name: "one", port: draw.pick([80, 81]) },
          ...(draw.chance(0.3) ? [{ name: "two", port: 90, targetPort: draw.pick([1, "web"]) }] : []),
        ],
        selector: { app: draw.pick(values) },
      },
    }),
    change: (draw) => ({
      spec: draw.pick<object>([
        { selector: { app: draw.pick(values) } },
        { ports: [{ name: "one", port: draw.pick([80, 81]), protocol: "TCP" }] },
        { sessionAffinity: draw.pick(["None", "ClientIP"]) },
      ]),
    }),
    pointers: ["/spec/selector", "/spec/ports/0/port", "/spec/type", "/metadata/labels"],
  },
  {
    path: at.deployments,
    builtin: true,
    hasStatus: true,
    scales: true,
    make: (draw, name, metadata) =>
      deployment(
        name,
        {
          ...draw.maybe(0.5, () => ({ replicas: draw.below(4) })),
          template: { metadata: { labels: { app: name } }, spec: { containers: containers(draw) } },
        },
        metadata,
      ),
    change: (draw) => ({
      spec: {
        ...draw.maybe(0.5, () => ({ replicas: draw.below(4) })),
        ...draw.maybe(0.5, () => ({ template: { spec: { containers: containers(draw) } } })),
        ...draw.maybe(0.2, () => ({ paused: draw.chance(0.5) })),
      },
    }),
    pointers: [
      "/spec/replicas",
      "/spec/template/spec/containers/0/image",
      "/spec/paused",
      "/metadata/labels",
      "/metadata/annotations",
    ],
  },
  {
    path: at.widgets,
    builtin: false,
    hasStatus: true,
    scales: true,
    make: (draw, name, metadata) => widget(name, widgetSpec(draw), metadata),
    change: (draw) => ({ spec: widgetSpec(draw) }),
    pointers: ["/spec/size", "/spec/parts", "/spec/parts/0", "/spec/extra", "/metadata/labels"],
  },
];

function someMetadata(draw: Draw): object {
  return {
    ...draw.maybe(0.4, () => ({ labels: { l: draw.pick(values), ...draw.maybe(0.2, () => ({ m: "x" })) } })),
    ...draw.maybe(0.2, () => ({ annotations: { note: draw.pick(values) } })),
    ...draw.maybe(0.12, () => ({ finalizers: draw.pick([["x.io/f"], ["x.io/f", "x.io/g"], []]) })),
    ...draw.maybe(0.05, () => ({ labels: { "bad key": "x" } })),
  };
}

function writeQuery(draw: Draw): string {
  const parts = [
    draw.chance(0.6) ? `fieldManager=${draw.pick(["m1", "m2", "m3"])}` : "",
    draw.chance(0.08) ? "dryRun=All" : "",
    draw.chance(0.15) ? `fieldValidation=${draw.pick(["Strict", "Warn", "Ignore"])}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

function version(draw: Draw, name: string): object {
  return draw.pick<object>([
    {},
    { resourceVersion: `{rv ${name}}` },
    { resourceVersion: `{rv ${name}}` },
    { resourceVersion: `{rv ${name}}` },
    { resourceVersion: `{oldrv ${name}}` },
    { resourceVersion: `{rv ${name}}`, uid: `{uid ${name}}` },
  ]);
}

function randomOperations(draw: Draw, kind: Kind): object[] {
  return Array.from({ length: 1 + draw.below(3) }, () => {
    const path = draw.pick(kind.pointers);
    const op = draw.pick(["add", "add", "replace", "remove", "test", "copy", "move"]);
    const value = draw.pick<unknown>(["1", "2", 3, { l: "9" }, null, ["x"]]);
    if (op === "remove") return { op, path };
    return op === "copy" || op === "move"
      ? { op, from: draw.pick(kind.pointers), path }
      : { op, path, value };
  });
}

function randomPatch(draw: Draw, kind: Kind, name: string): Sending {
  const one = `${kind.path}/${name}`;
  const type = draw.pick<PatchType>(["merge", "merge", "json", "strategic", "apply", "apply", "apply"]);
  // The real server creates a Service, but not a whole one, when its status is applied before it is there.
  const isAllowed = kind.hasStatus && !(kind.path === at.services && type === "apply");
  const sub = isAllowed && draw.chance(0.12) ? "/status" : "";
  const status =
    sub === "/status" ? { status: draw.pick<object>([{ replicas: draw.below(3) }, { phase: "x" }, {}]) } : {};
  switch (type) {
    case "json":
      return patch("json", `${one}${writeQuery(draw)}`, randomOperations(draw, kind));
    case "apply": {
      const manager = draw.pick(["m1", "m2", "m3"]);
      const force = draw.chance(0.4) ? "&force=true" : "";
      const made = kind.make(draw, name, {
        ...someMetadata(draw),
        ...(draw.chance(0.1) ? version(draw, name) : {}),
      });
      return patch("apply", `${one}${sub}?fieldManager=${manager}${force}`, { ...made, ...status });
    }
    default:
      return patch(type, `${one}${sub}${writeQuery(draw)}`, {
        ...(draw.chance(0.5)
          ? { metadata: { ...someMetadata(draw), ...(draw.chance(0.15) ? version(draw, name) : {}) } }
          : {}),
        ...kind.change(draw),
        ...status,
      });
  }
}

function randomRead(draw: Draw, kind: Kind, name: string): Sending {
  const accept = draw.pick([
    undefined,
    undefined,
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/vnd.kubernetes.protobuf,application/json",
  ]);
  if (kind.scales && draw.chance(0.1)) return get(`${kind.path}/${name}/scale`, accept);
  if (draw.chance(0.4)) return get(`${kind.path}/${name}`, accept);
  const query = [
    draw.chance(0.4)
      ? `labelSelector=${encodeURIComponent(draw.pick(["l", "l=1", "l!=1", "!l", "l in (1,2)", "l notin (1)", "l>1"]))}`
      : "",
    draw.chance(0.2)
      ? `fieldSelector=${encodeURIComponent(draw.pick(["metadata.name=x1", "metadata.name!=x1"]))}`
      : "",
    draw.chance(0.3) ? `limit=${draw.pick([1, 2])}` : "",
  ].filter((part) => part !== "");
  return get(`${kind.path}${query.length === 0 ? "" : `?${query.join("&")}`}`, accept);
}

function randomDelete(draw: Draw, kind: Kind, name: string): Sending {
  if (draw.chance(0.15)) return remove(`${kind.path}?labelSelector=l%3D${draw.pick(values)}`);
  const body = draw.chance(0.5)
    ? {
        apiVersion: "v1",
        kind: "DeleteOptions",
        ...draw.maybe(0.4, () => ({ propagationPolicy: draw.pick(["Background", "Foreground", "Orphan"]) })),
        ...draw.maybe(0.3, () => ({
          preconditions: draw.pick<object>([
            { uid: `{uid ${name}}` },
            { resourceVersion: `{rv ${name}}` },
            { resourceVersion: `{oldrv ${name}}` },
          ]),
        })),
        ...draw.maybe(0.1, () => ({ dryRun: ["All"] })),
      }
    : undefined;
  return remove(`${kind.path}/${name}`, body);
}

function randomStep(draw: Draw, kind: Kind): Sending {
  const name = draw.pick(["x1", "x2"]);
  switch (draw.below(10)) {
    case 0:
    case 1:
      return post(`${kind.path}${writeQuery(draw)}`, kind.make(draw, name, someMetadata(draw)));
    case 2:
    case 3:
      return put(
        `${kind.path}/${name}${writeQuery(draw)}`,
        kind.make(draw, name, { ...someMetadata(draw), ...version(draw, name) }),
      );
    case 4:
    case 5:
    case 6:
      return randomPatch(draw, kind, name);
    case 7:
    case 8:
      return randomRead(draw, kind, name);
    default:
      return randomDelete(draw, kind, name);
  }
}

/** A sequence about one kind: creates, changes, reads and deletes of two objects, and at the end a watch of all that happened. */
export function generateSequence(seed: number): Sequence {
  const draw = new Draw(seed);
  const kind = draw.pick(kinds);
  const steps = [
    post(`${kind.path}${writeQuery(draw)}`, kind.make(draw, "x1", someMetadata(draw))),
    ...Array.from({ length: 10 + draw.below(10) }, () => randomStep(draw, kind)),
    get(
      `${kind.path}?watch=true&timeoutSeconds=1&resourceVersion={start}${draw.chance(0.4) ? "&labelSelector=l%3D1" : ""}`,
    ),
  ];
  return { name: `generated ${seed} (${kind.path.split("/").at(-1)})`, steps };
}
