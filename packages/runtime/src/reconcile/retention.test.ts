import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { appController, key, running, WebApp } from "./model-run.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function isCollected(reference: WeakRef<object>, rounds: number): Promise<boolean> {
  for (let round = 0; round < rounds && reference.deref() !== undefined; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return reference.deref() === undefined;
}

test("nothing that a reconcile returned is kept once its object is gone", async () => {
  let returned: WeakRef<object> | undefined;
  const run = await running(
    appController({
      reconcile: () => {
        const detail = { large: "x".repeat(100) };
        returned = new WeakRef(detail);
        return { status: { detail } };
      },
    }),
  );
  if (!returned) throw new Error("it was not reconciled");
  expect(await isCollected(returned, 2)).toBe(false);
  run.cluster.remove(WebApp, key);
  await run.settle();
  expect(await isCollected(returned, 20)).toBe(true);
  await run.manager.stop();
});
