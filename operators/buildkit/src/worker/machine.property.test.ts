import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type BuildsSeen,
  mustAsk,
  type WorkerAction,
  type WorkerRules,
  type WorkerState,
  workerStep,
} from "./machine.ts";
import type { PodSeen } from "./pod-observation.ts";

const rules: WorkerRules = {
  provisionMs: 60_000,
  drainMs: 100_000,
  silenceMs: 30_000,
  isReused: true,
  unusedMs: 20_000,
  askMs: 5_000,
  askDrainingMs: 2_000,
};

/** What may happen to a worker between two looks at it. */
type Happening =
  | "pod-ready"
  | "pod-unready"
  | "pod-ended"
  | "pod-evicted"
  | "claim"
  | "release"
  | "build-starts"
  | "build-ends"
  | "goes-silent"
  | "answers"
  | "is-deleted"
  | { readonly passes: number };

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Happening>("pod-ready") },
  { weight: 3, arbitrary: fc.constant<Happening>("claim") },
  { weight: 3, arbitrary: fc.constant<Happening>("build-starts") },
  {
    weight: 6,
    arbitrary: fc.constantFrom<Happening>(
      "pod-unready",
      "pod-ended",
      "pod-evicted",
      "release",
      "build-ends",
      "goes-silent",
      "answers",
      "is-deleted",
    ),
  },
  { weight: 4, arbitrary: fc.integer({ min: 100, max: 40_000 }).map((passes) => ({ passes })) },
);

/** A worker and its daemon as they really are, whatever the machine knows of them. */
class Reality {
  now = 1_000_000;
  state: WorkerState = { at: "pending" };
  pod: "absent" | "starting" | "ready" | "unready" | "ended" | "stopping" = "absent";
  claim: { readonly expiresAt: number; readonly activeAt: number } | undefined;
  builds = 0;
  isSilent = false;
  askedAt = 0;
  deletedAt: number | undefined;
  isGone = false;

  happen(what: Happening): void {
    if (typeof what === "object") this.now += what.passes;
    else if (what === "pod-ready" && (this.pod === "starting" || this.pod === "unready")) this.pod = "ready";
    else if (what === "pod-unready" && this.pod === "ready") this.pod = "unready";
    else if (what === "pod-ended" && this.pod !== "absent") this.end("ended");
    else if (what === "pod-evicted" && (this.pod === "ready" || this.pod === "unready"))
      this.pod = "stopping";
    // As the API claims: a worker that its status says is idle, and that is not deleted.
    else if (what === "claim" && this.state.at === "idle" && !this.claim && this.deletedAt === undefined)
      this.claim = { expiresAt: this.now + 50_000, activeAt: this.now };
    else if (what === "release") this.claim = undefined;
    else if (what === "build-starts" && this.isServing && this.claim && this.now < this.claim.expiresAt)
      this.builds++;
    else if (what === "build-ends" && this.builds > 0) this.builds--;
    else if (what === "goes-silent") this.isSilent = true;
    else if (what === "answers") this.isSilent = false;
    else if (what === "is-deleted") this.deletedAt ??= this.now;
  }

  get isServing(): boolean {
    return this.pod === "ready" || this.pod === "unready" || this.pod === "stopping";
  }

  end(pod: "ended" | "absent"): void {
    this.pod = pod;
    this.builds = 0;
  }

  /** One look at the worker, with what it leads to. */
  look(): { readonly before: WorkerState; readonly action: WorkerAction } {
    const before = this.state;
    const pod = this.podSeen();
    const seen = { isDeleted: this.deletedAt !== undefined, claim: this.claim, pod };
    const answer: BuildsSeen = this.isSilent ? { is: "silent" } : { is: "known", count: this.builds };
    const isDue = this.now >= this.askedAt + 10_000;
    const builds: BuildsSeen = mustAsk(before, seen, isDue) ? answer : { is: "unasked" };
    if (builds.is !== "unasked") this.askedAt = this.now;
    const { state, action } = workerStep(before, { ...seen, now: this.now, builds }, rules);
    this.state = state;
    return { before, action };
  }

  podSeen(): PodSeen {
    switch (this.pod) {
      case "absent":
      case "starting":
        return { is: this.pod };
      case "ready":
      case "unready":
        return { is: this.pod, ip: "10.0.0.1", node: "node" };
      case "ended":
        return { is: "ended", reason: "Error", message: "exit code 1" };
      case "stopping":
        return { is: "stopping", ip: "10.0.0.1" };
    }
  }

  obey(action: WorkerAction): void {
    if (action.do === "make-pod") this.pod = "starting";
    else if (action.do === "delete-pod") this.end("absent");
    else if (action.do === "delete-worker") this.deletedAt ??= this.now;
    else if (action.do === "release") this.claim = undefined;
    else if (action.do === "finish") this.isGone = true;
  }
}

test("no build is cut before its time, by expiry, deletion, silence or a failed probe", () => {
  fc.assert(
    fc.property(fc.array(happenings, { minLength: 5, maxLength: 60 }), (story) => {
      const worker = new Reality();
      for (const what of story) {
        if (worker.isGone) break;
        worker.happen(what);
        const { builds, pod, deletedAt, claim, now } = worker;
        const { before, action } = worker.look();
        if (action.do === "delete-pod" && builds > 0) {
          expect(now).toBeGreaterThanOrEqual((deletedAt ?? Number.POSITIVE_INFINITY) + rules.drainMs);
          expect(action.isForced).toBe(true);
        }
        if (action.do === "delete-worker" && builds > 0 && claim)
          expect(now).toBeGreaterThanOrEqual(claim.expiresAt + rules.drainMs);
        if (action.do === "finish") expect(pod).toBe("absent");
        if (action.do === "make-pod") expect(pod).toBe("absent");
        const { state } = worker;
        if (
          state.at === "failed" &&
          before.at !== "failed" &&
          claim &&
          worker.isServing &&
          pod !== "stopping"
        )
          expect.fail(`failed while ${pod} and claimed: ${state.reason}`);
        if (state.at === "idle") {
          expect(builds).toBe(0);
          expect(pod).toBe("ready");
          expect(claim).toBeUndefined();
        }
        worker.obey(action);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("a worker that is deleted is gone in the end, whatever happened before", () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 40 }), (story) => {
      const worker = new Reality();
      for (const what of story) {
        worker.happen(what);
        worker.obey(worker.look().action);
      }
      worker.happen("is-deleted");
      for (let round = 0; round < 100 && !worker.isGone; round++) {
        worker.now += 5_000;
        worker.obey(worker.look().action);
      }
      expect(worker.isGone).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a worker that is no longer used is idle, failed or to be deleted in the end", () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 40 }), (story) => {
      const worker = new Reality();
      for (const what of story) {
        worker.happen(what);
        worker.obey(worker.look().action);
      }
      worker.happen("release");
      worker.builds = 0;
      for (let round = 0; round < 40; round++) {
        worker.now += 5_000;
        worker.obey(worker.look().action);
      }
      const isSettled = ["idle", "failed"].includes(worker.state.at) || worker.deletedAt !== undefined;
      expect(isSettled).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a worker that has stopped answering is available no longer than it takes to ask it", () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 40 }), (story) => {
      const worker = new Reality();
      for (const what of story) {
        worker.happen(what);
        worker.obey(worker.look().action);
      }
      worker.isSilent = true;
      worker.now += 10_000;
      worker.obey(worker.look().action);
      expect(worker.state.at).not.toBe("idle");
    }),
    { numRuns: 500 },
  );
});
