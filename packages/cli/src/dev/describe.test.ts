import { expect, test } from "vitest";
import { describe } from "./describe.ts";
import { readLogLine } from "./log-line.ts";

const object = (kind: string, rest: object) => ({ kind, metadata: { name: "shop" }, ...rest });
const condition = (type: string, status: string, message = "") => ({ type, status, reason: "Why", message });

test.for([
  [object("Service", {}), "is there"],
  [object("Pod", {}), "Pending"],
  [object("Pod", { status: { phase: "Running", podIP: "10.0.0.7" } }), "Running at 10.0.0.7"],
  [object("Deployment", { spec: { replicas: 3 }, status: { availableReplicas: 1 } }), "1 of 3 available"],
  [object("Shop", { status: { conditions: [condition("Ready", "False")] } }), "not Ready: Why"],
  [object("Shop", { status: { conditions: [condition("Ready", "True", "open")] } }), "Ready: open"],
  [object("Job", { status: { conditions: [condition("Complete", "True")] } }), "Complete: Why"],
  [
    object("Shop", {
      spec: { replicas: 2 },
      status: { availableReplicas: 2, conditions: [condition("Ready", "True")] },
    }),
    "Ready: 2 of 2 available",
  ],
  [
    object("Shop", {
      spec: { replicas: 2 },
      status: { availableReplicas: 2, conditions: [condition("Ready", "False", "no luck")] },
    }),
    "not Ready: no luck",
  ],
  [
    object("Shop", {
      spec: { replicas: 2 },
      status: { availableReplicas: 1, conditions: [condition("Ready", "False", "rolling")] },
    }),
    "not Ready: 1 of 2 available",
  ],
] as const)("an object is described by its most significant condition: %j", ([given, words]) => {
  expect(describe(given)).toBe(words);
});

test("an object that goes says so first", () => {
  const pod = { kind: "Pod", metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  expect(describe({ ...pod, status: { phase: "Running" } } as typeof pod)).toBe("is being deleted");
});

test("a line of the runtime's log is read, any other is itself", () => {
  const record = { level: "warn", time: "now", msg: "no luck", key: "a/b", tries: 3 };
  const read = { level: "warn", text: "no luck  key=a/b  tries=3", isOwn: false };
  expect(readLogLine(JSON.stringify(record))).toEqual(read);
  for (const other of ["Error: no", "{ not json", '{"a":1}'])
    expect(readLogLine(other)).toEqual({ level: "info", text: other, isOwn: true });
});

test.each(["reconcileID", "controller", "runnable", "webhook"])(
  "a line of a logger that has %s may be the user's",
  (field) => {
    const line = JSON.stringify({ level: "info", msg: "looks", [field]: "x" });
    expect(readLogLine(line)).toEqual({ level: "info", text: `looks  ${field}=x`, isOwn: true });
  },
);

test("of a stack only the frames of the user's own code are shown, on lines of their own", () => {
  const stack = [
    "at reconcile (file:///home/ada/shop/src/controller.ts:12:9)",
    "    at inSpan (file:///home/ada/shop/node_modules/@windlass/runtime/dist/chunks/a.js:1:2)",
    "    at zip (file:///home/ada/.yarn/cache/runtime.zip/node_modules/@windlass/runtime/dist/a.js:1:2)",
    "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)",
    "    at async load (C:\\shop\\src\\load.ts:3:1)",
  ].join("\n");
  expect(readLogLine(JSON.stringify({ level: "error", msg: "failed", stack })).text).toBe(
    [
      "failed",
      "    at reconcile (file:///home/ada/shop/src/controller.ts:12:9)",
      "    at async load (C:\\shop\\src\\load.ts:3:1)",
    ].join("\n"),
  );
});
