import { isDeepStrictEqual } from "node:util";
import { seededRandom } from "../../../packages/clock/src/index.ts";
import { clone, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import {
  applyJsonPatch,
  applyMergePatch,
  serverSideApply,
  trackUpdate,
} from "../../../packages/control-plane/src/merge/index.ts";
import type { Schema } from "../../../packages/control-plane/src/schema/schema.ts";
import { StatusError } from "../../../packages/control-plane/src/status.ts";
import { Draw, type Owner, randomMetadata, randomSchema, randomValue } from "./generate.ts";
import { compareAnswers, type Divergence, latestTime, type Played, stored, wait } from "./judge.ts";
import type { Answer, Send } from "./real-server.ts";

const GROUP = "merge.windlass.example";
const VERSION = `${GROUP}/v1`;

/** What exists before the sequences start. */
export interface World {
  readonly namespace: string;
  readonly owners: readonly Owner[];
}

export interface CustomKind {
  readonly plural: string;
  readonly kind: string;
  readonly schema: Schema;
}

/** A CRD whose schema comes from the seed, with the status subresource on. */
export async function createKind(send: Send, seed: number): Promise<CustomKind> {
  const draw = new Draw(seededRandom(seed));
  const kind = `Seed${seed}`;
  const plural = `seed${seed}s`;
  const schema: Schema = {
    type: "object",
    properties: { spec: randomSchema(draw), status: randomSchema(draw, 1) },
  };
  const answer = await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  });
  if (answer.status !== 201) throw new Error(`CRD of seed ${seed}: ${JSON.stringify(answer.body.message)}`);
  return { plural, kind, schema };
}

export async function deleteKind(send: Send, { plural }: CustomKind): Promise<void> {
  await send("DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${GROUP}`);
}

export async function untilServed(send: Send, namespace: string, { plural }: CustomKind): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { status } = await send("GET", `/apis/${VERSION}/namespaces/${namespace}/${plural}`);
    if (status === 200) return;
    await wait(100);
  }
  throw new Error(`${plural} was not served`);
}

/** Plays one sequence of writes and compares each answer with what the merge functions make of the same input. */
export async function playCustom(
  send: Send,
  world: World,
  custom: CustomKind,
  seed: number,
  steps: number,
): Promise<Played> {
  const draw = new Draw(seededRandom(seed));
  const name = `o${seed}`;
  const collection = `/apis/${VERSION}/namespaces/${world.namespace}/${custom.plural}`;
  const path = `${collection}/${name}`;
  const divergences: Divergence[] = [];
  let live: JsonObject | undefined;
  let played = 0;
  for (let step = 0; step < steps; step++) {
    const write = randomWrite(draw, world, custom, name, live);
    const target = write.subresource ? `${path}/${write.subresource}` : path;
    const query = new URLSearchParams({
      fieldManager: write.manager,
      ...(write.force ? { force: "true" } : {}),
    });
    const answer =
      write.method === "POST"
        ? await send("POST", `${collection}?${query.toString()}`, write.body)
        : await send(write.method, `${target}?${query.toString()}`, write.body, write.contentType);
    const expected = predict(write, custom, live, answer);
    played++;
    if (expected !== undefined) {
      const difference = compareAnswers(expected, answer, write.subresource === "" ? "all" : "status");
      if (difference) {
        divergences.push({ seed, step, kind: custom.kind, write, live: live ?? null, difference });
      }
    }
    if (answer.status < 300) live = answer.body;
    await wait(1050);
  }
  await send("PATCH", path, { metadata: { finalizers: null } }, "application/merge-patch+json");
  await send("DELETE", path);
  return { played, divergences };
}

interface Write {
  readonly method: "POST" | "PUT" | "PATCH";
  readonly contentType: string;
  readonly type: "create" | "update" | "merge" | "json" | "apply";
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: string;
  readonly body: Json;
}

function randomWrite(
  draw: Draw,
  world: World,
  custom: CustomKind,
  name: string,
  live: JsonObject | undefined,
): Write {
  const manager = draw.pick(["m1", "m2", "m3"]);
  const density = draw.pick([0.3, 0.5, 0.8]);
  const object = (withStatus: boolean): JsonObject => ({
    apiVersion: VERSION,
    kind: custom.kind,
    metadata: { name, ...randomMetadata(draw, world.owners) },
    ...(draw.chance(0.9)
      ? { spec: randomValue(draw, custom.schema.properties?.spec as Schema, density) ?? {} }
      : {}),
    ...(withStatus
      ? { status: randomValue(draw, custom.schema.properties?.status as Schema, density) ?? {} }
      : {}),
  });
  const base = { manager, force: false, subresource: "", contentType: "application/json" };
  if (live === undefined && draw.chance(0.5)) {
    return { ...base, method: "POST", type: "create", body: object(false) };
  }
  const choice = live === undefined ? 9 : draw.below(10);
  if (choice < 2) {
    const body = object(false);
    const metadata = body.metadata as JsonObject;
    const before = live?.metadata as JsonObject;
    metadata.resourceVersion = before.resourceVersion as Json;
    if (draw.chance(0.5)) metadata.managedFields = randomManagedFields(draw, before.managedFields ?? []);
    return { ...base, method: "PUT", type: "update", body };
  }
  if (choice < 4) {
    const { metadata, spec } = object(false);
    const { name: _, ...rest } = metadata as JsonObject;
    const body = { metadata: rest, ...(spec === undefined ? {} : { spec: sprinkleNulls(draw, spec) }) };
    return { ...base, method: "PATCH", contentType: "application/merge-patch+json", type: "merge", body };
  }
  if (choice < 5) {
    const body = randomOperations(draw, object(false));
    return { ...base, method: "PATCH", contentType: "application/json-patch+json", type: "json", body };
  }
  const status = live !== undefined && draw.chance(0.2);
  return {
    ...base,
    method: "PATCH",
    contentType: "application/apply-patch+yaml",
    type: "apply",
    force: draw.chance(0.4),
    subresource: status ? "status" : "",
    body: object(status),
  };
}

function randomManagedFields(draw: Draw, entries: Json): Json {
  const list = Array.isArray(entries) ? entries : [];
  return draw.pick<Json>([
    entries,
    [{}],
    list.slice(1),
    [...list, { manager: "bad", operation: "Update" }],
    [
      {
        manager: "sent",
        operation: "Update",
        apiVersion: VERSION,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": {} },
      },
    ],
    [
      {
        manager: "sent",
        operation: "Apply",
        apiVersion: VERSION,
        time: "2020-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:a": {}, "f:b": { ".": {} }, "f:nope": {}, "x:y": {} } },
      },
    ],
  ]);
}

function sprinkleNulls(draw: Draw, value: Json): Json {
  if (!isObject(value)) return draw.chance(0.1) ? null : value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      draw.chance(0.1) ? null : sprinkleNulls(draw, member),
    ]),
  );
}

function randomOperations(draw: Draw, object: JsonObject): JsonObject[] {
  const paths = [
    "/spec/a",
    "/spec/b",
    "/spec/c",
    "/spec/d/0",
    "/spec/e/-",
    "/spec/a/-1",
    "/metadata/labels/l1",
    "/metadata/labels",
  ];
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
  for (const key of keys) at = isObject(at) ? at[key] : undefined;
  return at ?? "x";
}

/** What should have come back, or undefined where that is not for merging to say: validation, or a status it ignores. */
function predict(
  write: Write,
  custom: CustomKind,
  live: JsonObject | undefined,
  answer: Answer,
): JsonObject | StatusError | undefined {
  const context = {
    schema: custom.schema,
    manager: write.manager,
    apiVersion: VERSION,
    subresource: write.subresource,
    time: latestTime(answer),
    resetFields: write.subresource === "status" ? [["spec"]] : [["status"]],
  };
  try {
    if (write.type === "apply") {
      return stored(
        serverSideApply({ ...context, live, config: write.body as JsonObject, force: write.force }),
        custom.schema,
      );
    }
    if (write.type === "json" || write.type === "merge") {
      const patched =
        write.type === "json"
          ? applyJsonPatch(live as JsonObject, write.body)
          : applyMergePatch(live as JsonObject, write.body);
      if (answer.status >= 300) return undefined;
      const next = withMetadata(answer.body, patched as JsonObject);
      const { metadata: ours, ...rest } = stored(patched as JsonObject, custom.schema);
      const { metadata: theirs, ...answered } = answer.body;
      if (!isDeepStrictEqual(rest, answered)) return { ...rest, metadata: ours as Json };
      if (theirs === undefined) return undefined;
      return trackUpdate({ ...context, live, next });
    }
    if (answer.status >= 300) return undefined;
    const next = withMetadata(answer.body, write.body as JsonObject);
    return trackUpdate({ ...context, live, next });
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

/** The answer with the managedFields that were sent: tracking sees the object before it gets its own. */
function withMetadata(answered: JsonObject, sent: JsonObject): JsonObject {
  const next = clone(answered);
  const metadata = next.metadata as JsonObject;
  delete metadata.managedFields;
  const managed = (sent.metadata as JsonObject | undefined)?.managedFields;
  // The real server reads the metadata of custom resources in a way that makes an empty list none at all.
  if (Array.isArray(managed) && managed.length > 0) metadata.managedFields = managed;
  return next;
}
