import { ApiError, type ReconcileClient } from "@windlass/runtime";
import { expect, test } from "vitest";
import { BuildKitPool } from "./pool.ts";
import { deleteRoute, makeRoute } from "./route.ts";

const pool = BuildKitPool.make(
  { namespace: "builds", name: "ci", uid: "1" },
  { gateway: { gatewayAPI: { enabled: true, hostname: "builds.example.com" } } },
);

function refusing(code: number, reason: string): ReconcileClient {
  const refuse = () =>
    Promise.reject(
      new ApiError({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: "no" }),
    );
  const reader = { get: refuse, list: refuse };
  return { ...reader, live: reader, apply: refuse, delete: refuse } as unknown as ReconcileClient;
}

test.for<[number, string, string]>([
  [404, "NotFound", "GatewayAPIMissing"],
  [403, "Forbidden", "Forbidden"],
  [422, "Invalid", "Invalid"],
  [500, "InternalError", "InternalError"],
  [500, "", "RouteRefused"],
])(
  "what the API server refuses with %i %s is the outcome, and stops nothing else",
  async ([code, reason, expected]) => {
    const outcome = await makeRoute(refusing(code, reason), pool);
    expect(outcome).toMatchObject({ is: "not-made", reason: expected });
  },
);

test("a route that cannot be deleted is reported until it can; without the Gateway API there is none", async () => {
  expect(await deleteRoute(refusing(403, "Forbidden"), pool)).toMatchObject({ reason: "Forbidden" });
  expect(await deleteRoute(refusing(404, "NotFound"), pool)).toBeUndefined();
});

test("an error that is not the API server's is not taken for one of the route", async () => {
  const lost = { live: { list: () => Promise.reject(new TypeError("lost")) } } as unknown as ReconcileClient;
  await expect(makeRoute(lost, pool)).rejects.toThrow("lost");
});
