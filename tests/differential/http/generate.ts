import type { JsonObject } from "../../../packages/control-plane/src/json.ts";
import { encodeProtobuf } from "../../../packages/control-plane/src/protobuf/index.ts";
import type { Sending } from "../servers.ts";
import { Draw } from "./draw.ts";
import { type Kind, kinds, values } from "./generate-kinds.ts";
import { get, type PatchType, patch, post, put, remove } from "./scenarios/requests.ts";
import type { Sequence } from "./sequence.ts";

function someMetadata(draw: Draw, kind: Kind): object {
  return {
    ...draw.maybe(0.4, () => ({ labels: { l: draw.pick(values), ...draw.maybe(0.2, () => ({ m: "x" })) } })),
    ...draw.maybe(0.2, () => ({ annotations: { note: draw.pick(values) } })),
    ...draw.maybe(0.12, () => ({
      // An empty list is kept in a custom object, until its scale is written.
      finalizers: draw.pick([["x.io/f"], ["x.io/f", "x.io/g"], ...(kind.custom ? [] : [[]])]),
    })),
    ...draw.maybe(0.05, () => ({ labels: { "bad key": "x" } })),
    ...draw.maybe(0.05, () => ({
      ownerReferences: [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          name: "o",
          uid: "u",
          ...draw.maybe(0.5, () => ({ controller: true })),
        },
      ],
    })),
  };
}

function joined(parts: readonly string[]): string {
  const given = parts.filter((part) => part !== "");
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

/** What no endpoint knows, or other endpoints do. */
function oddQuery(draw: Draw): string {
  return draw.chance(0.05)
    ? draw.pick([
        "bogus=1",
        "limit=1",
        "watch=false",
        "labelSelector=l",
        "timeout=5s",
        "timeout=x",
        "pretty=false",
      ])
    : "";
}

function writeQuery(draw: Draw): string {
  return joined([
    draw.chance(0.6) ? `fieldManager=${draw.pick(["m1", "m2", "m3"])}` : "",
    draw.chance(0.08) ? draw.pick(["dryRun=All", "dryRun=All&dryRun=All", "dryRun=None"]) : "",
    draw.chance(0.15) ? `fieldValidation=${draw.pick(["Strict", "Warn", "Ignore"])}` : "",
    oddQuery(draw),
  ]);
}

function version(draw: Draw, name: string): object {
  return draw.pick<object>([
    {},
    { resourceVersion: `{rv ${name}}` },
    { resourceVersion: `{rv ${name}}` },
    { resourceVersion: `{rv ${name}}` },
    { resourceVersion: `{oldrv ${name}}` },
    { resourceVersion: `{rv ${name}}`, uid: `{uid ${name}}` },
    { uid: `{uid ${name}}` },
  ]);
}

function randomOperations(draw: Draw, pointers: readonly string[]): object[] {
  return Array.from({ length: 1 + draw.below(3) }, () => {
    const path = draw.pick(pointers);
    const op = draw.pick(["add", "add", "replace", "remove", "test", "copy", "move"]);
    const value = draw.pick<unknown>(["1", "2", 3, { l: "9" }, null, ["x"]]);
    if (op === "remove") return { op, path };
    return op === "copy" || op === "move" ? { op, from: draw.pick(pointers), path } : { op, path, value };
  });
}

const statusPointers = [
  "/status",
  "/status/replicas",
  "/status/conditions",
  "/metadata/labels",
  "/spec/replicas",
];

function patchTypeFor(draw: Draw, kind: Kind): PatchType {
  const types: PatchType[] = ["merge", "merge", "json", "strategic", "apply", "apply", "apply"];
  return draw.pick(kind.custom && draw.chance(0.9) ? types.filter((type) => type !== "strategic") : types);
}

function randomPatch(draw: Draw, kind: Kind, name: string): Sending {
  const { status: statusOf } = kind;
  const isStatus = statusOf !== undefined && draw.chance(0.2);
  const one = `${kind.path}/${name}${isStatus ? "/status" : ""}`;
  const type = patchTypeFor(draw, kind);
  const status = isStatus ? { status: statusOf(draw) } : {};
  switch (type) {
    case "json":
      return patch(
        "json",
        `${one}${writeQuery(draw)}`,
        randomOperations(draw, isStatus ? statusPointers : kind.pointers),
      );
    case "apply": {
      const force = draw.pick(["", "", "force=true", "force=true", "force=false"]);
      const query = joined([
        `fieldManager=${draw.pick(["m1", "m2", "m3"])}`,
        force,
        draw.chance(0.05) ? "dryRun=All" : "",
      ]);
      const made = kind.make(draw, name, {
        ...someMetadata(draw, kind),
        ...(draw.chance(0.1) ? version(draw, name) : {}),
      });
      return patch("apply", `${one}${query}`, { ...made, ...status });
    }
    default:
      return patch(type, `${one}${writeQuery(draw)}`, {
        ...(draw.chance(0.5)
          ? { metadata: { ...someMetadata(draw, kind), ...(draw.chance(0.15) ? version(draw, name) : {}) } }
          : {}),
        ...(isStatus && draw.chance(0.6) ? {} : kind.change(draw)),
        ...status,
      });
  }
}

function randomScale(draw: Draw, kind: Kind, name: string): Sending {
  const path = `${kind.path}/${name}/scale`;
  const spec = { replicas: draw.below(5) };
  const whole = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name, namespace: "{ns}", ...(draw.chance(0.2) ? version(draw, name) : {}) },
    spec,
  };
  switch (draw.below(4)) {
    case 0:
      return get(path, draw.pick([undefined, table, partial, protobuf]));
    case 1:
      return put(`${path}${writeQuery(draw)}`, whole);
    case 2:
      return patch("apply", `${path}?fieldManager=m${1 + draw.below(3)}&force=${draw.chance(0.6)}`, whole);
    default:
      return patch(kind.custom ? "merge" : draw.pick(["merge", "strategic"]), `${path}${writeQuery(draw)}`, {
        spec,
      });
  }
}

function randomPut(draw: Draw, kind: Kind, name: string): Sending {
  const isStatus = kind.status !== undefined && draw.chance(0.15);
  return put(`${kind.path}/${name}${isStatus ? "/status" : ""}${writeQuery(draw)}`, {
    ...kind.make(draw, name, { ...someMetadata(draw, kind), ...version(draw, name) }),
    ...(isStatus ? { status: kind.status?.(draw) } : {}),
  });
}

const partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const partialList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const protobuf = "application/vnd.kubernetes.protobuf,application/json";
const forms = [
  undefined,
  undefined,
  undefined,
  partial,
  partialList,
  table,
  protobuf,
  "application/yaml",
  "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
];

const labelSelectors = ["l", "l=1", "l!=1", "!l", "l in (1,2)", "l notin (1)", "l>1", "l=1,m=x", "m"];

function selectors(draw: Draw, kind: Kind): string[] {
  const field = draw.pick([
    "metadata.name=x1",
    "metadata.name!=x1",
    "metadata.namespace={ns}",
    ...(kind.fields ?? []).flatMap((path) => [
      `${path}=1`,
      `${path}!=1`,
      `${path}=red`,
      `${path}=Opaque`,
      `${path}=`,
    ]),
  ]);
  return [
    draw.chance(0.4) ? `labelSelector=${encodeURIComponent(draw.pick(labelSelectors))}` : "",
    draw.chance(0.25) ? `fieldSelector=${encodeURIComponent(field).replace("%7Bns%7D", "{ns}")}` : "",
  ];
}

function randomRead(draw: Draw, kind: Kind, name: string): Sending {
  const accept = draw.pick(forms);
  if (draw.chance(0.4)) {
    const sub = kind.status !== undefined && draw.chance(0.15) ? "/status" : "";
    const query = joined([
      draw.chance(0.1) ? `includeObject=${draw.pick(["None", "Metadata", "Object"])}` : "",
      oddQuery(draw),
    ]);
    return get(`${kind.path}/${name}${sub}${query}`, accept);
  }
  const query = joined([
    ...selectors(draw, kind),
    draw.chance(0.3) ? `limit=${draw.pick([1, 2, 0])}` : "",
    draw.chance(0.1) ? "continue={continue}" : "",
    draw.chance(0.15)
      ? draw.pick([
          "resourceVersion={start}&resourceVersionMatch=Exact",
          "resourceVersion={rv x1}&resourceVersionMatch=Exact",
          "resourceVersionMatch=Exact",
        ])
      : "",
    draw.chance(0.1) ? `includeObject=${draw.pick(["None", "Metadata", "Object"])}` : "",
    oddQuery(draw),
  ]);
  return get(`${kind.path}${query}`, accept);
}

function deleteOptions(draw: Draw, name: string): object {
  return {
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
    ...draw.maybe(0.2, () => ({ gracePeriodSeconds: draw.pick([0, 1, 30]) })),
    ...draw.maybe(0.1, () => ({ dryRun: ["All"] })),
  };
}

function randomDelete(draw: Draw, kind: Kind, name: string): Sending {
  const query = joined([
    draw.chance(0.15) ? `propagationPolicy=${draw.pick(["Background", "Foreground", "Orphan"])}` : "",
    draw.chance(0.1) ? `gracePeriodSeconds=${draw.pick([0, 1])}` : "",
    draw.chance(0.05) ? "dryRun=All" : "",
  ]);
  const body = draw.chance(0.4) ? deleteOptions(draw, name) : undefined;
  if (draw.chance(0.75)) return remove(`${kind.path}/${name}${query}`, body);
  const chosen = joined([
    ...query.slice(1).split("&"),
    ...selectors(draw, kind),
    draw.chance(0.1) ? "limit=1" : "",
  ]);
  return {
    ...remove(`${kind.path}${chosen}`),
    ...(draw.chance(0.2) ? { headers: { accept: partialList } } : {}),
  };
}

function randomCreate(draw: Draw, kind: Kind, name: string): Sending {
  const path = `${kind.path}${writeQuery(draw)}`;
  const made = kind.make(draw, name, someMetadata(draw, kind)) as JsonObject;
  if (draw.chance(0.1)) {
    const { name: _name, ...metadata } = made.metadata as JsonObject;
    return post(path, {
      ...made,
      metadata: { ...metadata, generateName: `gen-${draw.letter()}-` },
    });
  }
  const { apiVersion, kind: kindName } = made as { apiVersion: string; kind: string };
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const encoded =
    kind.custom || !draw.chance(0.15)
      ? undefined
      : encodeProtobuf({ group, version, kind: kindName }, JSON.parse(JSON.stringify(made)) as JsonObject);
  if (encoded) return post(path, encoded, "application/vnd.kubernetes.protobuf");
  return {
    ...post(path, made),
    ...(draw.chance(0.15) ? { headers: { accept: draw.pick([table, partial, protobuf]) } } : {}),
  };
}

function randomStep(draw: Draw, kind: Kind): Sending {
  const name = draw.pick(["x1", "x1", "x2"]);
  if (kind.scales && draw.chance(0.12)) return randomScale(draw, kind, name);
  switch (draw.below(10)) {
    case 0:
    case 1:
      return randomCreate(draw, kind, name);
    case 2:
    case 3:
      return randomPut(draw, kind, name);
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

/** All that happened, from the start or as it is now. */
function randomWatch(draw: Draw, kind: Kind): Sending {
  const from = draw.pick([
    "resourceVersion={start}",
    "resourceVersion={start}",
    "resourceVersion={start}&allowWatchBookmarks=true",
    "resourceVersion=0",
    "",
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={start}",
  ]);
  const query = joined(["watch=true", "timeoutSeconds=1", from, ...selectors(draw, kind)]);
  return get(`${kind.path}${query}`, draw.pick([undefined, undefined, table, partial]));
}

/**
 * A sequence about one kind: creates, changes, reads and deletes of two objects, and at the end
 * watches of all that happened.
 */
export function generateSequence(seed: number): Sequence {
  const draw = new Draw(seed);
  const kind = draw.pick(kinds);
  const steps = [
    post(`${kind.path}${writeQuery(draw)}`, kind.make(draw, "x1", someMetadata(draw, kind))),
    ...Array.from({ length: 12 + draw.below(12) }, () => randomStep(draw, kind)),
    // The real server's cache has seen everything once it has answered this: watches start from it.
    get(kind.path),
    randomWatch(draw, kind),
  ];
  return { name: `generated ${seed} (${kind.path.split("/").at(-1)})`, steps };
}
