import type { ObjectOf } from "@windlass/runtime";
import { EndpointSlice } from "@windlass/runtime/kinds";
import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { podsIn, resolversIn } from "./cluster-view.ts";

function slice(endpoints: ObjectOf<typeof EndpointSlice>["endpoints"]) {
  return existing(EndpointSlice, {
    metadata: { namespace: "shop", name: "s" },
    addressType: "IPv4",
    endpoints,
  }).object;
}

test("a replica that is about to end is not ready, and is known", () => {
  const found = resolversIn([
    slice([
      { addresses: ["10.0.0.1"], conditions: { ready: true, serving: true, terminating: false } },
      { addresses: ["10.0.0.2"], conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ["10.0.0.3"], conditions: { ready: false, serving: false, terminating: false } },
      { addresses: ["10.0.0.4"] },
    ]),
  ]);
  expect(found.map(({ isReady }) => isReady)).toEqual([true, false, false, true]);
});

test("a pod with two addresses is one pod", () => {
  const targetRef = { kind: "Pod", uid: "a" };
  const pods = podsIn([
    slice([{ addresses: ["10.0.0.1"], conditions: { ready: true }, targetRef }]),
    slice([{ addresses: ["fd00::1"], conditions: { ready: false, terminating: true }, targetRef }]),
  ]);
  expect(pods).toEqual([{ uid: "a", isReady: true, isTerminating: true }]);
});
