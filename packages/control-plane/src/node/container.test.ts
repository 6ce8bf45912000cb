import type { Container, ContainerStatus, Pod } from "@windlass/kinds/builtin";
import fc from "fast-check";
import { expect, test } from "vitest";
import { storedObject } from "../storage/stored.fixture.ts";
import type { Stored } from "../storage/typed.ts";
import type { Behavior } from "./behavior.ts";
import { Behaviors, fromAnnotations } from "./behaviors.ts";
import { backoffMs, stepContainer } from "./container.ts";

const container: Container = { name: "main", image: "example/app:1" };
const pod = podWith({});

function podWith(annotations: Record<string, string>): Stored<Pod> {
  return storedObject({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", annotations },
    spec: { containers: [{ name: "main", image: "example/app:1" }] },
  });
}

const behavior: fc.Arbitrary<Behavior> = fc
  .record({
    kind: fc.constantFrom(
      "run",
      "never-ready",
      "succeed",
      "fail",
      "crash-loop",
      "oom-killed",
      "image-pull-error",
    ),
    afterMs: fc.integer({ min: 0, max: 20_000 }),
    readyAfterMs: fc.integer({ min: 0, max: 20_000 }),
    times: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  })
  .map(({ times, ...rest }) => (times === undefined ? rest : { ...rest, times })) as fc.Arbitrary<Behavior>;

const moments = fc.array(
  fc.record({ passMs: fc.integer({ min: 0, max: 60_000 }), missing: fc.boolean(), behavior }),
  { minLength: 1, maxLength: 40, size: "max" },
);

test("whatever happens, a container is in one state, ready only while it runs, and never restarts less often than before", () => {
  fc.assert(
    fc.property(moments, fc.constantFrom("Always", "OnFailure", "Never"), (steps, policy) => {
      let now = Date.UTC(2026, 0, 1);
      let status: ContainerStatus | undefined;
      for (const step of steps) {
        now += step.passMs;
        const next = stepContainer(
          {
            pod,
            container,
            part: "containers",
            behavior: step.behavior,
            imageMissing: step.missing ? "" : undefined,
            configError: undefined,
            now,
            restarts: (code) => policy === "Always" || (policy === "OnFailure" && code !== 0),
          },
          status,
        );
        expect(Object.keys(next.status.state ?? {})).toHaveLength(1);
        if (next.status.ready === true) expect(next.status.state?.running).toBeDefined();
        const after = next.status.restartCount;
        const more = after - (status?.restartCount ?? 0);
        expect(more).toBeGreaterThanOrEqual(0);
        expect(more).toBeLessThanOrEqual(1);
        if (policy === "Never") expect(after).toBe(0);
        expect(next.againMs ?? 0).toBeGreaterThanOrEqual(0);
        status = next.status;
      }
    }),
  );
});

test("waits between restarts double up to five minutes", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 100].map(backoffMs)).toEqual([
    0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000,
  ]);
});

test("annotations may say anything: what makes no sense counts as not said", () => {
  const name = fc.constantFrom(
    "behavior",
    "after",
    "exit-code",
    "times",
    "start-after",
    "ready-after",
    "linger",
    "container",
    "logs",
  );
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom("crash-loop", "1m30s", "-5", "1e9", "grace", "5", "99999999999999"),
  );
  fc.assert(
    fc.property(fc.dictionary(name, value), (given) => {
      const annotations = Object.fromEntries(
        Object.entries(given).map(([key, text]) => [`node.windlass.dev/${key}`, text]),
      );
      const said = fromAnnotations(podWith(annotations));
      for (const part of ["afterMs", "exitCode", "times", "startAfterMs", "readyAfterMs"] as const) {
        expect(said?.[part] ?? 0).toBeGreaterThanOrEqual(0);
      }
    }),
  );
  expect(fromAnnotations(pod)).toBeUndefined();
});

test("what a pod says of itself comes before what is said of it, and what is said last before what was said first", () => {
  const behaviors = new Behaviors();
  const undo = behaviors.on("default/p*", "fail");
  behaviors.on({ namespace: "elsewhere" }, "evict");
  expect(behaviors.of(pod).kind).toBe("fail");
  const undoLater = behaviors.on((one) => one.metadata.uid === "u", {
    kind: "never-ready",
    container: "main",
  });
  expect(behaviors.of(pod, "main").kind).toBe("never-ready");
  expect(behaviors.of(pod, "other").kind).toBe("run");
  const annotated = podWith({ "node.windlass.dev/behavior": "succeed" });
  expect(behaviors.of(annotated).kind).toBe("succeed");
  undoLater();
  undo();
  expect(behaviors.of(pod).kind).toBe("run");
});
