import type { AnyKind } from "@windlass/client";
import { expect, test } from "vitest";
import { ConfigMap } from "../kinds/index.ts";
import { ReconcileOverError } from "../reconcile/errors.ts";
import { ModelRun } from "../reconcile/model-run.ts";
import { Follows } from "./follow.ts";

const key = { namespace: "default", name: "web" };

test("a reconcile that outlives its controller follows nothing any more", async () => {
  const { cluster } = new ModelRun();
  const opened: string[] = [];
  const world = {
    cache: cluster.cache,
    informer: (kind: AnyKind) => {
      opened.push(kind.kind);
      return cluster.cache.informer(kind);
    },
  };
  const follows = new Follows(world, () => undefined);
  const late = follows.begin(key);
  follows.close();
  await expect(late.follow(ConfigMap, key)).rejects.toBeInstanceOf(ReconcileOverError);
  expect(opened).toEqual([]);
});
