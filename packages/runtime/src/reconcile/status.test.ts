import { apiVersionOf, type KubernetesObject } from "@windlass/client";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import type { Cache, OwnedFields } from "../cache/contract.ts";
import type { ReconcileClient } from "./client.ts";
import { WebApp } from "./model-run.fixture.ts";
import { SchemaFacts } from "./schema-facts.ts";
import { writeStatus } from "./status.ts";

const live = {
  metadata: { namespace: "a", name: "web", uid: "u", resourceVersion: "2" },
  status: { url: "x" },
};

/**
 * The paths that make a write of the status necessary, if the server's record of its owners is as
 * given.
 */
async function because(owned: OwnedFields | undefined): Promise<readonly string[]> {
  const written = await writeStatus(
    {
      kind: WebApp,
      client: { apply: () => Promise.resolve(live as KubernetesObject) } as unknown as ReconcileClient,
      cache: { ownedFields: () => owned } as unknown as Cache,
      clock: new ManualClock(),
      fieldManager: "mine",
      schemas: new SchemaFacts(),
      hasObservedGeneration: false,
    },
    live,
    { url: "x" } as object,
    undefined,
    undefined,
  );
  return written.because;
}

test("a status that is owned in another version of the kind, or not at all, is written again", async () => {
  const owned = (apiVersion: string) => ({
    apiVersion,
    fields: { "f:status": { "f:url": {} } },
    version: "",
  });
  expect(await because(owned(apiVersionOf(WebApp)))).toEqual([]);
  expect(await because(owned("example.com/v1beta1"))).toEqual(["status"]);
  expect(await because(undefined)).toEqual(["status"]);
});
