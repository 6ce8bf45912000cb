import { patches, type Story } from "../story.ts";

const core = "/api/v1/namespaces/{ns}/events";
const modern = "/apis/events.k8s.io/v1/namespaces/{ns}/events";
const involvedObject = { kind: "Pod", namespace: "{ns}", name: "p", apiVersion: "v1" };

export const events: Story[] = [
  {
    name: "event core",
    at: core,
    steps: [
      {
        post: {
          metadata: { name: "e1" },
          involvedObject,
          reason: "R",
          message: "m",
          type: "Normal",
          source: { component: "c", host: "h" },
          firstTimestamp: "2024-01-01T00:00:00Z",
          lastTimestamp: "2024-01-01T00:00:01Z",
          count: 3,
        },
      },
      { get: "e1", at: modern },
      { post: {} },
      { post: { involvedObject: { kind: "Node", name: "n", apiVersion: "v1" } } },
      { post: { involvedObject: { ...involvedObject, namespace: "other" } } },
      { post: { involvedObject: { ...involvedObject, namespace: "" } } },
      { post: { involvedObject, type: "Nope" } },
      {
        post: {
          metadata: { name: "e8" },
          involvedObject,
          reportingComponent: "example.com/c",
          reportingInstance: "i",
          action: "A",
          reason: "R",
          type: "Warning",
          eventTime: "2024-01-01T00:00:00.000000Z",
        },
      },
      { get: "e8", at: modern },
      { post: { involvedObject, eventTime: "2024-01-01T00:00:00.000000Z" } },
      {
        post: {
          involvedObject,
          reportingComponent: "bad component",
          reportingInstance: "i",
          action: "A",
          reason: "R",
          type: "Nope",
          eventTime: "2024-01-01T00:00:00.000000Z",
        },
      },
      ...patches("e1", [
        { count: 4, lastTimestamp: "2024-01-01T00:00:09Z" },
        { involvedObject: { name: "other" } },
      ]),
      ...patches("e8", [
        { series: { count: 2, lastObservedTime: "2024-01-01T00:00:05.000000Z" } },
        { reason: "other" },
      ]),
      { put: { metadata: { name: "viaput" }, involvedObject, reason: "R" }, name: "viaput" },
      { delete: "e1" },
    ],
  },
  {
    name: "event modern",
    at: modern,
    steps: [
      {
        post: {
          metadata: { name: "m1" },
          eventTime: "2024-01-01T00:00:00.000000Z",
          regarding: involvedObject,
          note: "n",
          reason: "R",
          type: "Normal",
          action: "A",
          reportingController: "example.com/c",
          reportingInstance: "i",
        },
      },
      { get: "m1", at: core },
      { post: { regarding: involvedObject } },
      { post: { eventTime: "2024-01-01T00:00:00.000000Z", regarding: involvedObject } },
      {
        post: {
          eventTime: "2024-01-01T00:00:00.000000Z",
          regarding: involvedObject,
          note: "x".repeat(1025),
          reason: "r".repeat(129),
          action: "a".repeat(129),
          type: "Nope",
          reportingController: "bad c",
          reportingInstance: "i".repeat(129),
        },
      },
      {
        post: {
          eventTime: "2024-01-01T00:00:00.000000Z",
          regarding: involvedObject,
          reason: "R",
          type: "Normal",
          action: "A",
          reportingController: "c",
          reportingInstance: "i",
          deprecatedCount: 3,
          deprecatedSource: { component: "x" },
        },
      },
      {
        post: {
          eventTime: "2024-01-01T00:00:00.000000Z",
          regarding: involvedObject,
          reason: "R",
          type: "Normal",
          action: "A",
          reportingController: "example.com/c",
          reportingInstance: "i",
          series: { count: 1 },
        },
      },
      ...patches("m1", [
        { series: { count: 2, lastObservedTime: "2024-01-01T00:00:05.000000Z" } },
        { note: "other" },
        { reason: "other" },
        { metadata: { labels: { a: "b" } } },
      ]),
      { get: "m1", at: core },
      { delete: "m1" },
    ],
  },
];
