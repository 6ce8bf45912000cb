// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { EventSource, EventSourceInput, ObjectReference, ObjectReferenceInput } from "./core-v1.ts";

export interface Event {
  readonly apiVersion?: "events.k8s.io/v1";
  readonly kind?: "Event";
  readonly metadata: NamespacedObjectMeta;
  readonly action?: string;
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedSource?: EventSource;
  readonly eventTime: string | null;
  readonly note?: string;
  readonly reason?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly series?: EventSeries;
  readonly type?: string;
}

export interface EventInput {
  readonly apiVersion?: "events.k8s.io/v1" | undefined;
  readonly kind?: "Event" | undefined;
  readonly metadata: NamedMetaInput;
  readonly action?: string | undefined;
  readonly deprecatedCount?: number | undefined;
  readonly deprecatedFirstTimestamp?: string | null | undefined;
  readonly deprecatedLastTimestamp?: string | null | undefined;
  readonly deprecatedSource?: EventSourceInput | undefined;
  readonly eventTime: string | null;
  readonly note?: string | undefined;
  readonly reason?: string | undefined;
  readonly regarding?: ObjectReferenceInput | undefined;
  readonly related?: ObjectReferenceInput | undefined;
  readonly reportingController?: string | undefined;
  readonly reportingInstance?: string | undefined;
  readonly series?: EventSeries | undefined;
  readonly type?: string | undefined;
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string | null;
}

export const Event: ResourceKind<Event, EventInput, "Namespaced"> = { group: "events.k8s.io", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" };
