/** What of Ginkgo's JSON report is read. */
export interface SuiteReport {
  readonly SuiteSucceeded: boolean;
  readonly SpecialSuiteFailureReasons?: readonly string[] | null;
  readonly PreRunStats?: { readonly SpecsThatWillRun: number };
  readonly SpecReports?: readonly SpecReport[] | null;
}

export interface SpecReport {
  readonly ContainerHierarchyTexts?: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message: string } | null;
}

/** What a run showed. Specs are named in full. */
export interface Outcome {
  readonly passed: readonly string[];
  /** How many of those that passed are part of Kubernetes' conformance. */
  readonly conformance: number;
  readonly failed: readonly Failed[];
  /** Left out by the spec itself, with its reason: what it needs is not there. */
  readonly skipped: readonly string[];
  readonly seconds: number;
  /** Why the run proves nothing, whatever passed. */
  readonly faults: readonly string[];
}

export interface Failed {
  readonly name: string;
  readonly state: string;
  readonly message: string;
}

/**
 * Reads the report of a run. A spec that was selected and has no result of its own was cut off, by
 * a timeout or an interrupt: Ginkgo calls it skipped, as it does those that were not selected.
 */
export function outcomeOf(report: string): Outcome {
  const suites = (report.trim() === "" ? [] : JSON.parse(report)) as readonly SuiteReport[];
  const specs = suites.flatMap(({ SpecReports }) => SpecReports ?? []);
  const tests = specs.filter(({ LeafNodeType }) => LeafNodeType === "It");
  const passed = tests.filter(({ State }) => State === "passed").map(nameOf);
  const skipped = tests.filter(isSkippedByItself).map((spec) => `${nameOf(spec)}: ${messageOf(spec)}`);
  // What comes before and after all specs counts only where it fails.
  const failed = specs
    .filter(({ State }) => !["passed", "skipped", "pending"].includes(State))
    .map((spec) => ({ name: nameOf(spec), state: spec.State, message: messageOf(spec) }));
  const selected = suites.reduce((sum, { PreRunStats }) => sum + (PreRunStats?.SpecsThatWillRun ?? 0), 0);
  const failedTests = tests.filter(({ State }) => !["passed", "skipped", "pending"].includes(State)).length;
  const cutOff = selected - passed.length - skipped.length - failedTests;
  const reasons = suites.flatMap(({ SpecialSuiteFailureReasons }) => SpecialSuiteFailureReasons ?? []);
  const faults = [
    ...(suites.length === 0 ? ["there is no report"] : []),
    ...(passed.length === 0 ? ["no spec has passed"] : []),
    ...(cutOff > 0 ? [`${cutOff} of ${selected} specs were cut off`] : []),
    ...reasons,
    ...(failed.length === 0 && suites.some(({ SuiteSucceeded }) => !SuiteSucceeded)
      ? ["the suite did not succeed, though no spec failed"]
      : []),
  ];
  return {
    passed,
    conformance: passed.filter((name) => name.includes("[Conformance]")).length,
    failed,
    skipped,
    seconds: Math.round(tests.reduce((sum, { RunTime }) => sum + RunTime, 0) / 1e9),
    faults,
  };
}

function isSkippedByItself(spec: SpecReport): boolean {
  return spec.State === "skipped" && messageOf(spec) !== "";
}

function messageOf({ Failure }: SpecReport): string {
  return (Failure?.Message ?? "").slice(0, 500);
}

function nameOf({ ContainerHierarchyTexts, LeafNodeText, LeafNodeType }: SpecReport): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(" ");
}

/** A regular expression of Ginkgo that selects these specs and no others. */
export function focusOn(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
}
