import { seededRandom } from "../../../packages/clock/src/index.ts";
import { clone, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  serverSideApply,
  trackUpdate,
} from "../../../packages/control-plane/src/merge/index.ts";
import { StatusError } from "../../../packages/control-plane/src/status.ts";
import { finish, finishNow } from "../../../packages/control-plane/src/steps.ts";
import { Draw, type Owner, randomMetadata } from "./generate.ts";
import {
  answeredOtherwise,
  compareObjects,
  compareStatus,
  type Divergence,
  latestTime,
  type Played,
  wait,
} from "./judge.ts";
import type { Send, ServerResponse } from "./real-server.ts";
import type { Scenario } from "./scenario.ts";

type WriteType = "create" | "update" | "merge" | "json" | "strategic" | "apply";

interface Write {
  readonly type: WriteType;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: "" | "status";
  readonly body: Json;
}

const CONTENT_TYPES: Record<WriteType, string> = {
  create: "application/json",
  update: "application/json",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/**
 * Plays one sequence of writes and compares each answer with what the merge functions make of the
 * same input.
 */
export async function play(
  send: Send,
  scenario: Scenario,
  owners: readonly Owner[],
  seed: number,
  steps: number,
): Promise<Played> {
  const draw = new Draw(seededRandom(seed));
  const name = `o${seed}`;
  const path = `${scenario.collection}/${name}`;
  const divergences: Divergence[] = [];
  let live: JsonObject | undefined;
  let accepted = 0;
  for (let step = 0; step < steps; step++) {
    const write = randomWrite(draw, scenario, owners, name, live);
    const answer = await submit(send, scenario, path, write);
    const difference = await judge(write, scenario, live, answer);
    if (difference !== undefined) {
      divergences.push({ seed, step, kind: scenario.kind, write, live: live ?? null, difference });
    }
    if (answer.status < 300) accepted++;
    await wait(1050);
    const now = await send("GET", path);
    live = now.status === 200 ? now.body : undefined;
  }
  await send("PATCH", path, { metadata: { finalizers: null } }, CONTENT_TYPES.merge);
  await send("DELETE", path);
  return { played: steps, accepted, divergences };
}

function submit(send: Send, scenario: Scenario, path: string, write: Write): Promise<ServerResponse> {
  const query = `?fieldManager=${write.manager}${write.force ? "&force=true" : ""}`;
  const contentType = CONTENT_TYPES[write.type];
  if (write.type === "create") return send("POST", scenario.collection + query, write.body, contentType);
  const target = write.subresource === "" ? path : `${path}/${write.subresource}`;
  return send(write.type === "update" ? "PUT" : "PATCH", target + query, write.body, contentType);
}

function randomWrite(
  draw: Draw,
  scenario: Scenario,
  owners: readonly Owner[],
  name: string,
  live: JsonObject | undefined,
): Write {
  const object = (extent: "whole" | "part", extra: JsonObject = {}): JsonObject => ({
    apiVersion: scenario.apiVersion,
    kind: scenario.kind,
    metadata: { name, ...randomMetadata(draw, owners) },
    ...scenario.body(draw, extent),
    ...extra,
  });
  const base = { manager: draw.pick(["m1", "m2", "m3"]), force: false, subresource: "" as const };
  if (live === undefined) {
    if (draw.chance(0.5)) return { ...base, type: "create", body: object("whole") };
    return { ...base, type: "apply", body: object("whole") };
  }
  const before = live.metadata as JsonObject;
  switch (draw.below(10)) {
    case 0:
    case 1: {
      const body = object("whole");
      const metadata = body.metadata as JsonObject;
      metadata.resourceVersion = before.resourceVersion as Json;
      if (draw.chance(0.5))
        metadata.managedFields = randomManagedFields(draw, scenario, before.managedFields);
      return { ...base, type: "update", body };
    }
    case 2:
      return { ...base, type: "merge", body: patchOf(draw, object("part")) };
    case 3:
      return { ...base, type: "json", body: randomOperations(draw, scenario, object("part")) };
    case 4:
    case 5: {
      const type = scenario.builtin ? "strategic" : "merge";
      const patch = patchOf(draw, object("part"));
      return { ...base, type, body: scenario.builtin ? withDirectives(draw, patch) : patch };
    }
    default: {
      const status = scenario.status && draw.chance(0.2);
      return {
        ...base,
        type: "apply",
        force: draw.chance(0.4),
        subresource: status ? "status" : "",
        body: object("part", status ? scenario.statusBody(draw) : {}),
      };
    }
  }
}

function patchOf(draw: Draw, object: JsonObject): JsonObject {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const { name: ___, ...kept } = metadata as JsonObject;
  return { metadata: kept, ...(sprinkleNulls(draw, rest) as JsonObject) };
}

function sprinkleNulls(draw: Draw, value: Json): Json {
  if (!isObject(value)) return draw.chance(0.1) ? null : value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      draw.chance(0.07) ? null : sprinkleNulls(draw, member),
    ]),
  );
}

/**
 * Lists that can be ordered. On a list of maps without a merge key the real server panics and drops
 * the connection.
 */
const ORDERED = [
  "containers",
  "env",
  "ports",
  "volumes",
  "hostAliases",
  "imagePullSecrets",
  "topologySpreadConstraints",
  "finalizers",
  "ownerReferences",
];

/** Directives in some of the places where they mean something, and in some where they do not. */
function withDirectives(draw: Draw, patch: Json): Json {
  if (Array.isArray(patch)) {
    return patch.map((item) => {
      if (!isObject(item)) return item;
      const directive = draw.chance(0.1)
        ? { $patch: draw.pick(["delete", "delete", "replace", "merge"]) }
        : {};
      return { ...(withDirectives(draw, item) as JsonObject), ...directive };
    });
  }
  if (!isObject(patch)) return patch;
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    if (Array.isArray(value) && ORDERED.includes(key) && draw.chance(0.25)) {
      const ids = value.map((item) => (isObject(item) ? keysOf(item) : item));
      result[`$setElementOrder/${key}`] = draw.chance(0.8)
        ? [...ids, ...draw.some(ids, 0.2)]
        : draw.shuffled(ids);
    }
    if (key === "finalizers" && draw.chance(0.3)) {
      result["$deleteFromPrimitiveList/finalizers"] = draw.some(["x.io/a", "x.io/b"], 0.5);
      if (draw.chance(0.5)) continue;
    }
    result[key] = withDirectives(draw, value);
  }
  if (draw.chance(0.05)) result.$retainKeys = draw.some(Object.keys(result), 0.9);
  if (draw.chance(0.03)) result.$patch = draw.pick(["replace", "delete", "merge"]);
  return result;
}

/** The fields that some list somewhere is merged by. */
function keysOf(item: JsonObject): JsonObject {
  const names = ["name", "containerPort", "port", "ip", "topologyKey", "uid", "key"];
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
}

function randomManagedFields(draw: Draw, { apiVersion }: Scenario, entries: Json | undefined): Json {
  const list = Array.isArray(entries) ? entries : [];
  const sent = { manager: "sent", apiVersion, fieldsType: "FieldsV1" };
  return draw.pick<Json>([
    list,
    [{}],
    [],
    list.slice(1),
    [...list, { manager: "bad", operation: "Update" }],
    [{ ...sent, operation: "Update", fieldsV1: { "f:spec": {} } }],
    [
      {
        ...sent,
        operation: "Apply",
        time: "2020-01-01T00:00:00Z",
        fieldsV1: { "f:spec": { "f:a": {}, "f:b": { ".": {} }, "f:nope": {}, "x:y": {} } },
      },
    ],
  ]);
}

function randomOperations(draw: Draw, scenario: Scenario, object: JsonObject): JsonObject[] {
  const paths = [...scenario.paths, "/metadata/labels/l1", "/metadata/labels"];
  const value = (path: string): Json =>
    path === "/metadata/labels" ? { l1: "9" } : path.startsWith("/metadata") ? "9" : pointed(object, path);
  return Array.from({ length: 1 + draw.below(3) }, () => {
    const at = draw.pick(paths);
    const op = draw.pick(["add", "add", "replace", "remove", "test", "copy", "move"]);
    return op === "copy" || op === "move"
      ? { op, from: draw.pick(paths), path: at }
      : { op, path: at, ...(op === "remove" ? {} : { value: value(at) }) };
  });
}

function pointed(object: JsonObject, path: string): Json {
  const [, ...keys] = path.split("/");
  let at: Json | undefined = object;
  for (const key of keys) at = Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[key] : undefined;
  return at ?? "x";
}

/**
 * How the answer differs from what merging says it should be. What validation refuses is not for
 * merging to say.
 */
async function judge(
  write: Write,
  scenario: Scenario,
  live: JsonObject | undefined,
  answer: ServerResponse,
): Promise<unknown> {
  const context = {
    schema: scenario.schema,
    empty: scenario.empty,
    manager: write.manager,
    apiVersion: scenario.apiVersion,
    subresource: write.subresource,
    time: latestTime(answer),
    resetFields: write.subresource === "status" ? [["spec"]] : [["status"]],
  };
  const config = write.body as JsonObject;
  try {
    if (write.type === "apply") {
      const applied = serverSideApply({ ...context, live, config, force: write.force });
      if (answer.status >= 300) return answeredOtherwise(answer);
      return compareObjects(scenario, scenario.stored(applied), answer.body, write.subresource);
    }
    const sent = live === undefined ? config : await patched(write, scenario, live);
    if (answer.status >= 300) return answeredOtherwise(answer);
    const next = withSentEntries(scenario, answer.body, sent);
    const expected = trackUpdate({ ...context, live, next });
    const { metadata: _, ...rest } = scenario.stored(sent);
    const body = write.type === "create" || write.type === "update" ? {} : rest;
    return compareObjects(scenario, { ...body, metadata: expected.metadata as Json }, answer.body, "");
  } catch (error) {
    if (error instanceof StatusError) return compareStatus(error, answer);
    throw error;
  }
}

async function patched(write: Write, scenario: Scenario, live: JsonObject): Promise<JsonObject> {
  switch (write.type) {
    case "json":
      return (await finish(applyJsonPatch(live, write.body))) as JsonObject;
    case "merge":
      return applyMergePatch(live, write.body) as JsonObject;
    case "strategic":
      return finishNow(applyStrategicMergePatch(live, write.body as JsonObject, scenario.schema));
    default:
      return write.body as JsonObject;
  }
}

/**
 * The answer with the managedFields that were sent: tracking sees the object before it gets its
 * own.
 */
function withSentEntries(scenario: Scenario, answered: JsonObject, sent: JsonObject): JsonObject {
  const next = clone(scenario.tracked(answered, sent));
  const metadata = next.metadata as JsonObject;
  delete metadata.managedFields;
  const entries = (sent.metadata as JsonObject | undefined)?.managedFields;
  // The real server reads the metadata of custom resources in a way that makes an empty list none
  // at all.
  const seen = scenario.builtin || (Array.isArray(entries) && entries.length > 0);
  if (entries !== undefined && seen) metadata.managedFields = entries;
  return next;
}
