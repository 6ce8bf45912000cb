import { type JsonObject, textOf } from "../json.ts";
import { namespaceOf } from "../json-fields.ts";
import { timestamp } from "../registry/metadata.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import { StatusError } from "../status.ts";
import type { StoredObject } from "../storage/store.ts";
import { eventCorrelator } from "./event-correlation.ts";
import { builtin, createObject, edit } from "./objects.ts";

/** What an event says. */
export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The part of the object it is about: `spec.containers{web}`. */
  readonly fieldPath?: string;
}

/** Records an event about an object. */
export type Recorder = (object: StoredObject, text: EventText) => Promise<void>;

export interface RecorderOptions {
  /** The component that reports the event. */
  readonly component: string;
  /** The machine it runs on. */
  readonly host?: string;
  readonly context: RequestContext;
}

/**
 * Writes events as the real programs do: repeated events are counted, and too many of them are
 * aggregated or dropped. A failed write is ignored.
 */
export function eventRecorder(registry: Registry, options: RecorderOptions): Recorder {
  const { component, host, context } = options;
  const events = builtin(registry, "", "v1", "events");
  const correlate = eventCorrelator();

  return async (object, text) => {
    const namespace = namespaceOf(object) || "default";
    const { uid, name: objectName } = object.metadata;
    const { type, reason, fieldPath = "" } = text;
    const correlated = correlate(
      { about: `${uid} ${objectName}`, fieldPath, type, reason, message: text.message },
      registry.clock.now(),
    );
    if (correlated.at === "dropped") return;
    const { message } = correlated;
    const now = timestamp(registry.clock);
    const before =
      correlated.at === "again" &&
      registry.store.get(events.bucket, `${namespace}/${correlated.name}`)?.object;
    try {
      if (before) {
        await edit(registry, events, before, context, (next) => {
          next.count = correlated.count;
          next.lastTimestamp = now;
          next.message = message;
        });
        return;
      }
      const name = correlated.at === "again" ? correlated.name : eventName(registry, objectName);
      await createObject(
        registry,
        events,
        namespace,
        {
          metadata: { name, namespace },
          involvedObject: { ...reference(object), ...(fieldPath ? { fieldPath } : {}) },
          reason,
          message,
          source: { component, ...(host === undefined ? {} : { host }) },
          firstTimestamp: now,
          lastTimestamp: now,
          count: correlated.count,
          type,
          eventTime: null,
          // An aggregated event has no reporting component.
          reportingComponent: message === text.message ? component : "",
          reportingInstance: message === text.message ? (host ?? "") : "",
        },
        context,
      );
      if (correlated.at === "new") correlated.remember(name);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  };
}

/** The object's name and a number that grows with time, in hexadecimal. */
export function eventName(registry: Registry, name: string): string {
  const nanoseconds = BigInt(Math.floor(registry.clock.now())) * 1_000_000n;
  return `${name}.${(nanoseconds + BigInt(registry.nextEventNumber())).toString(16)}`;
}

export function reference(object: StoredObject): JsonObject {
  const { kind, apiVersion, metadata } = object;
  return {
    kind,
    ...(metadata.namespace === undefined ? {} : { namespace: textOf(metadata.namespace) }),
    name: metadata.name,
    uid: metadata.uid,
    apiVersion,
    ...(metadata.resourceVersion === "" ? {} : { resourceVersion: metadata.resourceVersion }),
  };
}
