import { ManualClock, seededRandom } from "@windlass/clock";
import { groupOf } from "@windlass/kinds";
import { ControlPlane, type ControlPlaneOptions } from "../control-plane.ts";
import { isObject, type JsonObject, textOf } from "../json.ts";
import { valueAt } from "../json-fields.ts";
import type { Resource } from "../registry/resource.ts";
import { type StoredObject, storageKey } from "../storage/store.ts";
import { createObject, edit, kindNamed } from "./objects.ts";

/** A control plane with a manual clock, for the tests of controllers and nodes. */
export interface TestCluster extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly clock: ManualClock;
  /**
   * Creates objects in `default` unless they say otherwise, and waits until the cluster is settled.
   */
  create(...objects: JsonObject[]): Promise<void>;
  /** Changes an object, and waits until the cluster is settled. */
  change(bucket: string, name: string, how: (object: JsonObject) => void): Promise<void>;
  /** As `change`, of the status or what else is written on its own. */
  changeStatus(
    bucket: string,
    name: string,
    how: (object: JsonObject) => void,
    subresource?: string,
  ): Promise<void>;
  delete(
    bucket: string,
    name: string,
    options?: { propagationPolicy?: "Foreground" | "Background" | "Orphan" },
  ): Promise<void>;
  get(bucket: string, name: string): StoredObject | undefined;
  list(bucket: string): StoredObject[];
  /** The events about objects of a kind, oldest first: `Reason: message`. */
  events(kind: string): string[];
  /** Lets time pass, every timer at its time and everything it starts done before the next. */
  pass(ms: number): Promise<void>;
}

const user = { name: "tester", groups: ["system:masters"] };
const context = { user, fieldManager: "test", dryRun: false, warn: () => undefined };

export async function startCluster(options: ControlPlaneOptions = {}): Promise<TestCluster> {
  const clock = new ManualClock();
  const failures: unknown[] = [];
  const plane = await ControlPlane.start({
    clock,
    random: seededRandom(1),
    onPanic: (error) => failures.push(error),
    ...options,
  });
  const { registry, store } = plane;
  const settle = async () => {
    await plane.settle();
    if (failures.length > 0) throw failures[0];
  };
  const resourceOf = (object: JsonObject): Resource => {
    const apiVersion = textOf(object.apiVersion);
    const info = kindNamed(registry, {
      group: groupOf(apiVersion),
      kind: textOf(object.kind),
      version: apiVersion.split("/").at(-1) ?? "",
    });
    if (!info) throw new Error(`there is no kind ${apiVersion} ${textOf(object.kind)}`);
    return registry.resourceFor(info);
  };
  const keyIn = (bucket: string, name: string) =>
    store.get(bucket, name) || name.includes("/") ? name : storageKey("default", name);
  const found = (bucket: string, name: string): StoredObject => {
    const object = store.get(bucket, keyIn(bucket, name))?.object;
    if (!object) throw new Error(`there is no ${bucket} ${name}`);
    return object;
  };
  await settle();
  return {
    plane,
    clock,
    async create(...objects) {
      for (const object of objects) {
        const resource = resourceOf(object);
        const namespace = textOf(valueAt(object, "metadata", "namespace")) || "default";
        await createObject(
          registry,
          resource,
          resource.info.namespaced ? namespace : undefined,
          object,
          context,
        );
      }
      await settle();
    },
    async change(bucket, name, how) {
      const object = found(bucket, name);
      await edit(registry, resourceOf(object), object, context, how);
      await settle();
    },
    async changeStatus(bucket, name, how, subresource = "status") {
      const object = found(bucket, name);
      await edit(registry, resourceOf(object), object, context, how, subresource);
      await settle();
    },
    async delete(bucket, name, deletion = {}) {
      const { metadata, ...object } = found(bucket, name);
      const namespace = metadata.namespace;
      await registry.delete(
        { resource: resourceOf(object), namespace, name: metadata.name },
        deletion,
        context,
      );
      await settle();
    },
    get: (bucket, name) => store.get(bucket, keyIn(bucket, name))?.object,
    list: (bucket) => store.list(bucket).entries.map(({ object }) => object),
    events: (kind) =>
      store
        .list("events")
        .entries.toSorted((a, b) =>
          a.object.metadata.uid === b.object.metadata.uid ? 0 : stamp(a.object) - stamp(b.object),
        )
        .map(({ object }) => object)
        .filter((event) => isObject(event.involvedObject) && event.involvedObject.kind === kind)
        .map(({ reason, message }) => `${textOf(reason)}: ${textOf(message)}`),
    async pass(ms) {
      const until = clock.now() + ms;
      await settle();
      for (let next = clock.nextAt; next !== undefined && next <= until; next = clock.nextAt) {
        await clock.advance(Math.max(0, next - clock.now()));
        await settle();
      }
      await clock.advance(until - clock.now());
      await settle();
    },
    [Symbol.asyncDispose]: () => plane.close(),
  };
}

/** The number in an event's name, which grows with each. */
function stamp(event: StoredObject): number {
  return Number(`0x${event.metadata.name.split(".").at(-1)}`);
}

/** A workload's pod template with one container. */
export function podTemplate(
  labels: JsonObject,
  more: { image?: string; annotations?: JsonObject; spec?: JsonObject } = {},
): JsonObject {
  const { image = "example/app:1", annotations, spec } = more;
  return {
    metadata: { labels, ...(annotations ? { annotations } : {}) },
    spec: { containers: [{ name: "main", image }], ...spec },
  };
}

/** A workload of `apps/v1`. */
export function workload(
  kind: string,
  name: string,
  spec: JsonObject = {},
  more: Parameters<typeof podTemplate>[1] = {},
): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate({ app: name }, more), ...spec },
  };
}

/** The names of objects. */
export function names(objects: readonly StoredObject[]): string[] {
  return objects.map(({ metadata }) => metadata.name);
}
