import { groupOf } from "@windlass/kinds";
import { ControlPlane, type ControlPlaneOptions } from "../control-plane.ts";
import { createObject, kindNamed } from "../controllers/objects.ts";
import { type JsonObject, textOf } from "../json.ts";
import type { StoredObject } from "../storage/store.ts";

/** A control plane with real processes, for tests. */
export interface ProcessCluster extends AsyncDisposable {
  readonly plane: ControlPlane;
  create(...objects: JsonObject[]): Promise<void>;
  /**
   * The state of an object of `default` once it is as wanted. Undefined once it is gone, if that is
   * wanted.
   */
  until(
    bucket: string,
    name: string,
    wanted: (object: StoredObject | undefined) => boolean,
  ): Promise<StoredObject | undefined>;
  /** What a GET answers, once it has ended. */
  read(path: string): Promise<string>;
}

const context = {
  user: { name: "tester", groups: ["system:masters"] },
  fieldManager: "test",
  dryRun: false,
  warn: () => undefined,
};

export async function startProcessCluster(options: ControlPlaneOptions = {}): Promise<ProcessCluster> {
  const plane = await ControlPlane.start({ processes: true, ...options });
  const { registry, store } = plane;
  return {
    plane,
    create: async (...objects) => {
      for (const object of objects) {
        const apiVersion = textOf(object.apiVersion);
        const info = kindNamed(registry, { group: groupOf(apiVersion), kind: textOf(object.kind) });
        if (!info) throw new Error(`there is no kind ${textOf(object.kind)}`);
        const namespace = info.namespaced ? "default" : undefined;
        await createObject(registry, registry.resourceFor(info), namespace, object, context);
      }
    },
    until: (bucket, name, wanted) => {
      const key = `default/${name}`;
      const { promise, resolve } = Promise.withResolvers<StoredObject | undefined>();
      const check = () => {
        const object = store.get(bucket, key)?.object;
        if (!wanted(object)) return;
        stop();
        resolve(object);
      };
      const stop = store.subscribe(bucket, (record) => {
        if (record.key === key) check();
      });
      check();
      return promise;
    },
    read: async (path) => {
      const response = await plane.connect().request({ method: "GET", path, headers: {} });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    },
    [Symbol.asyncDispose]: () => plane.close(),
  };
}

/** A pod of `default` with one container that runs a command. */
export function commandPod(
  name: string,
  command: readonly string[],
  more: { readonly container?: JsonObject; readonly spec?: JsonObject } = {},
): JsonObject {
  const container = { name: "main", image: "example/app:1", command: [...command], ...more.container };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [container], ...more.spec },
  };
}
