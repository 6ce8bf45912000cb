import { expect, test } from "vitest";
import { podsIn, resolversIn } from "./cluster-view.ts";
import type { EndpointSliceObject } from "./objects.ts";

function slice(endpoints: readonly object[]): EndpointSliceObject {
  return {
    metadata: { namespace: "shop", name: "s" },
    addressType: "IPv4",
    endpoints,
  } as EndpointSliceObject;
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
