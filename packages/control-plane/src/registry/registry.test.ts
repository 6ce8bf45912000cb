import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import { StatusError } from "../status.ts";

const start = () =>
  ControlPlane.start({ clock: new ManualClock(), random: seededRandom(1), controllers: "none" });

const context = {
  user: { name: "tester", groups: ["system:masters"] },
  fieldManager: "tester",
  dryRun: false,
  warn: () => undefined,
};

test("of two that create the same name at once, one gets a 409", async () => {
  await using plane = await start();
  const { registry } = plane;
  const resource = registry.resource("", "v1", "configmaps");
  if (!resource) throw new Error("ConfigMaps are not served");
  const create = () =>
    registry.create(
      resource,
      "default",
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
      context,
    );
  const outcomes = await Promise.allSettled([create(), create(), create()]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect((outcome.reason as StatusError).reason).toBe("AlreadyExists");
  }
});

test("no update is lost: a hundred increments at once make a hundred", async () => {
  await using plane = await start();
  const { registry } = plane;
  const resource = registry.resource("", "v1", "configmaps");
  if (!resource) throw new Error("ConfigMaps are not served");
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "count" }, data: { n: "0" } };
  await registry.create(resource, "default", object, context);
  const target = { resource, namespace: "default", name: "count" };
  const increment = async (): Promise<void> => {
    try {
      await registry.update(
        target,
        context,
        (live) => ({
          ...structuredClone(live),
          data: { n: String(Number((live.data as { n: string }).n) + 1) },
        }),
        { kind: "PatchOptions" },
      );
    } catch (error) {
      // Out of patience after five races: what a client of the real server does is try again.
      if (!(error instanceof StatusError && error.reason === "Conflict")) throw error;
      await increment();
    }
  };
  await Promise.all(Array.from({ length: 100 }, increment));
  expect((await registry.get(target)).data).toEqual({ n: "100" });
});
