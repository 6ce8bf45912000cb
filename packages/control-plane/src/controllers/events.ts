import { type JsonObject, textOf } from "../json.ts";
import { timestamp } from "../registry/metadata.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import { StatusError } from "../status.ts";
import type { StoredObject } from "../storage/store.ts";
import { builtin, createObject, edit, namespaceOf } from "./objects.ts";

/** What an event says. */
export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The part of the object it is about: `spec.containers{web}`. */
  readonly fieldPath?: string;
}

/** Tells people what happened to an object. */
export type Recorder = (object: StoredObject, text: EventText) => Promise<void>;

export interface RecorderOptions {
  /** The program that speaks. */
  readonly component: string;
  /** The machine it runs on. */
  readonly host?: string;
  readonly context: RequestContext;
}

/** So many different events are remembered to be counted instead of written anew, as the real recorders do. */
const remembered = 4_096;

const sequences = new WeakMap<Registry, { next: number }>();

/**
 * Writes events as the real programs do: one object per thing that is said about an object, counted when it is said again.
 * That an event cannot be written stops nobody.
 */
export function eventRecorder(registry: Registry, options: RecorderOptions): Recorder {
  const { component, host, context } = options;
  const events = builtin(registry, "", "v1", "events");
  const known = new Map<string, string>();

  return async (object, text) => {
    const namespace = namespaceOf(object) || "default";
    const identity = [object.metadata.uid, text.type, text.reason, text.message, text.fieldPath].join("\0");
    const now = timestamp(registry.clock);
    const before = registry.store.get(events.bucket, `${namespace}/${known.get(identity) ?? ""}`)?.object;
    try {
      if (before) {
        await edit(registry, events, before, context, (next) => {
          next.count = Number(next.count ?? 1) + 1;
          next.lastTimestamp = now;
        });
        return;
      }
      const name = eventName(registry, object.metadata.name);
      await createObject(
        registry,
        events,
        namespace,
        {
          metadata: { name, namespace },
          involvedObject: {
            ...reference(object),
            ...(text.fieldPath ? { fieldPath: text.fieldPath } : {}),
          },
          reason: text.reason,
          message: text.message,
          source: { component, ...(host === undefined ? {} : { host }) },
          firstTimestamp: now,
          lastTimestamp: now,
          count: 1,
          type: text.type,
          eventTime: null,
          reportingComponent: component,
          reportingInstance: host ?? "",
        },
        context,
      );
      known.delete(identity);
      known.set(identity, name);
      const oldest = known.keys().next();
      if (known.size > remembered && !oldest.done) known.delete(oldest.value);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  };
}

/** The object's name and a number that grows with time, in hexadecimal. */
export function eventName(registry: Registry, name: string): string {
  const sequence = sequences.get(registry) ?? { next: 0 };
  sequences.set(registry, sequence);
  return `${name}.${(BigInt(Math.floor(registry.clock.now())) * 1_000_000n + BigInt(sequence.next++)).toString(16)}`;
}

export function reference(object: StoredObject): JsonObject {
  const { kind, apiVersion, metadata } = object;
  return {
    kind,
    ...(metadata.namespace === undefined ? {} : { namespace: textOf(metadata.namespace) }),
    name: metadata.name,
    uid: metadata.uid,
    apiVersion,
    resourceVersion: metadata.resourceVersion,
  };
}
