import { expect, test } from "vitest";
import { focusOn, outcomeOf, type SpecReport } from "../tests/clients/e2e/report.ts";

const spec = (name: string, State: string, more: Partial<SpecReport> = {}): SpecReport => ({
  ContainerHierarchyTexts: ["[sig-apps] Deployment"],
  LeafNodeText: name,
  LeafNodeType: "It",
  State,
  RunTime: 1e9,
  ...more,
});
const report = (selected: number, specs: readonly SpecReport[], more: object = {}) =>
  JSON.stringify([
    {
      SuiteSucceeded: specs.every(({ State }) => /passed|skipped/.test(State)),
      PreRunStats: { SpecsThatWillRun: selected },
      SpecReports: specs,
      ...more,
    },
  ]);

test("a run that passed is proof, with the names of what it ran", () => {
  const outcome = outcomeOf(
    report(3, [
      spec("", "passed", { LeafNodeType: "BeforeSuite" }),
      spec("should roll [Conformance]", "passed"),
      spec("should scale", "passed"),
      spec("needs two nodes", "skipped", { Failure: { Message: "one node" } }),
      spec("was not selected", "skipped", { RunTime: 0 }),
    ]),
  );
  expect(outcome).toEqual({
    passed: ["[sig-apps] Deployment should roll [Conformance]", "[sig-apps] Deployment should scale"],
    conformance: 1,
    failed: [],
    skipped: ["[sig-apps] Deployment needs two nodes: one node"],
    seconds: 3,
    faults: [],
  });
});

test.each([
  ["no report", ""],
  ["no suite", "[]"],
  ["no spec", report(0, [])],
  ["none that passed", report(1, [spec("a", "skipped", { Failure: { Message: "no" } })])],
  ["specs cut off by the timeout", report(2, [spec("a", "passed"), spec("b", "skipped")])],
  ["a suite that failed as a whole", report(1, [spec("a", "passed")], { SuiteSucceeded: false })],
  [
    "a reason that is no spec's",
    report(1, [spec("a", "passed")], { SpecialSuiteFailureReasons: ["Suite Timeout Elapsed"] }),
  ],
])("%s proves nothing", (_what, text) => {
  expect(outcomeOf(text).faults).not.toEqual([]);
});

test("a failure before all specs is one too", () => {
  const before = spec("", "failed", { LeafNodeType: "SynchronizedBeforeSuite" });
  const { failed } = outcomeOf(report(1, [{ ...before, ContainerHierarchyTexts: null }]));
  expect(failed.map(({ name }) => name)).toEqual(["SynchronizedBeforeSuite"]);
});

test("specs are selected by their names alone", () => {
  const name = "[sig-apps] Job should (not) fail, ever.";
  expect(new RegExp(focusOn([name])).test(name)).toBe(true);
  expect(focusOn(["a [b]"])).toBe("a \\[b\\]");
});
