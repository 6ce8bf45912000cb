import type { KubernetesObject } from "@windlass/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Overlay, type OwnWrite } from "./overlay.ts";

function write(name: string, uid: string, version: string): OwnWrite {
  const object: KubernetesObject = { metadata: { name, uid, resourceVersion: version } };
  return { namespace: "a", name, uid, version, object };
}

const held = (uid: string, resourceVersion: string) => ({ uid, resourceVersion });

test("a write is shown until the watch brings it or something newer", () => {
  for (const version of ["20", "21"]) {
    const overlay = new Overlay();
    overlay.wrote(write("x", "u", "20"), { held: held("u", "10"), seen: "15" });
    overlay.sawObject("a", "x", "u", "19");
    expect(overlay.get("a", "x")?.version).toBe("20");
    overlay.sawObject("a", "x", "u", version);
    expect(overlay.get("a", "x")).toBeUndefined();
  }
});

test("a write that changed nothing, or that the watch has brought already, leaves nothing", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "10"), { held: held("u", "10"), seen: "10" });
  overlay.wrote(write("x", "u", "10"), { held: held("u", "12"), seen: "12" });
  overlay.wrote(write("x", "u", "10"), { held: undefined, seen: "12" });
  expect(overlay.size).toBe(0);
});

test("a write that the watch has brought already leaves nothing, though versions are not numbers", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "version-b"), { held: held("u", "version-b"), seen: "version-c" });
  expect(overlay.size).toBe(0);
});

test("any later event or bookmark passes a write, even if the object itself never came", () => {
  for (const pass of [
    (overlay: Overlay) => overlay.sawObject("a", "other", "o", "25"),
    (overlay: Overlay) => overlay.sawBookmark("20", () => false),
    (overlay: Overlay) => overlay.sawList("20", () => false),
  ]) {
    const overlay = new Overlay();
    overlay.wrote(write("x", "u", "20"), { held: undefined, seen: "15" });
    pass(overlay);
    expect(overlay.size).toBe(0);
  }
});

test("a list from before the write does not pass it", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "20"), { held: undefined, seen: undefined });
  overlay.sawList("19", () => false);
  expect(overlay.get("a", "x")).toBeDefined();
});

test("a list that was asked for after the write passes it, even if the server went back to before it", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "20"), { held: held("u", "10"), seen: "15" });
  overlay.deleted({ ...write("y", "v", "12"), isCertain: true }, { held: held("v", "12"), seen: "15" });
  const shown = overlay.lastWrite;
  overlay.wrote(write("z", "w", "21"), { held: undefined, seen: "15" });
  overlay.sawList("11", () => true, shown);
  expect(overlay.get("a", "x")).toBeUndefined();
  expect(overlay.hides({ namespace: "a", name: "y", uid: "v", resourceVersion: "11" })).toBe(false);
  expect(overlay.get("a", "z")).toBeDefined();
});

test("a deleted object stays hidden until the watch brings its end, also if it was never seen", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "20"), { held: undefined, seen: "15" });
  overlay.deleted(write("x", "u", "20"), { held: undefined, seen: "15" });
  expect(overlay.get("a", "x")).toBeUndefined();
  overlay.sawObject("a", "x", "u", "20");
  expect(overlay.hides({ namespace: "a", name: "x", uid: "u", resourceVersion: "10" })).toBe(true);
  overlay.sawDelete("a", "x", "u", "21");
  expect(overlay.size).toBe(0);
});

test("an object recreated after a delete is shown, and the old one is not", () => {
  const overlay = new Overlay();
  overlay.deleted(write("x", "old", "10"), { held: held("old", "10"), seen: "10" });
  overlay.wrote(write("x", "new", "12"), { held: held("old", "10"), seen: "10" });
  expect(overlay.get("a", "x")?.uid).toBe("new");
  overlay.sawDelete("a", "x", "old", "11");
  expect(overlay.get("a", "x")?.uid).toBe("new");
  overlay.sawObject("a", "x", "new", "12");
  expect(overlay.size).toBe(0);
});

test("an object that lives on after our delete shows itself again by a newer version", () => {
  const overlay = new Overlay();
  overlay.deleted(write("x", "u", "10"), { held: held("u", "10"), seen: "10" });
  overlay.sawObject("a", "x", "u", "11");
  expect(overlay.hides({ namespace: "a", name: "x", uid: "u", resourceVersion: "10" })).toBe(false);
});

test("an object that the server says is gone stays hidden through its last states, until its end is seen", () => {
  const overlay = new Overlay();
  overlay.deleted({ ...write("x", "u", "10"), isCertain: true }, { held: held("u", "10"), seen: "10" });
  overlay.sawObject("a", "x", "u", "11");
  expect(overlay.hides({ namespace: "a", name: "x", uid: "u", resourceVersion: "11" })).toBe(true);
  overlay.sawDelete("a", "x", "u", "12");
  expect(overlay.size).toBe(0);
});

test("a bookmark ends a delete only once the object is no longer held", () => {
  const overlay = new Overlay();
  overlay.deleted(write("x", "u", "10"), { held: held("u", "10"), seen: "10" });
  overlay.sawBookmark("30", () => true);
  expect(overlay.size).toBe(1);
  overlay.sawBookmark("31", () => false);
  expect(overlay.size).toBe(0);
});

test("an answer that comes late does not bring back an older state, nor a deleted object", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "22"), { held: undefined, seen: "15" });
  overlay.wrote(write("x", "u", "20"), { held: undefined, seen: "15" });
  expect(overlay.get("a", "x")?.version).toBe("22");
  overlay.deleted(write("x", "u", "22"), { held: undefined, seen: "15" });
  overlay.wrote(write("x", "u", "23"), { held: undefined, seen: "15" });
  expect(overlay.get("a", "x")).toBeUndefined();
});

test("leaving a selector before our write brought the object back does not hide our write", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "20"), { held: held("u", "10"), seen: "15" });
  overlay.sawDelete("a", "x", "u", "17");
  expect(overlay.get("a", "x")?.version).toBe("20");
});

test("versions that are not numbers: any later event of the object passes the write, and so does a list", () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "b-9"), { held: held("u", "a-1"), seen: "a-1" });
  expect(overlay.get("a", "x")).toBeDefined();
  overlay.sawObject("a", "other", "o", "c-3");
  expect(overlay.get("a", "x")).toBeDefined();
  overlay.sawObject("a", "x", "u", "c-4");
  expect(overlay.size).toBe(0);
  overlay.wrote(write("x", "u", "c-4"), { held: held("u", "c-4"), seen: "c-4" });
  expect(overlay.size).toBe(0);
  overlay.wrote(write("x", "u", "d-5"), { held: held("u", "c-4"), seen: "c-4" });
  overlay.sawList("e-6", () => true);
  expect(overlay.size).toBe(0);
});

test("the barrier opens when the watch has passed all writes there were, deletes included", async () => {
  const overlay = new Overlay();
  await overlay.passed();
  overlay.wrote(write("x", "u", "20"), { held: undefined, seen: "15" });
  overlay.wrote(write("y", "v", "21"), { held: undefined, seen: "15" });
  let isOpen = false;
  const opened = overlay.passed().then(() => {
    isOpen = true;
  });
  overlay.deleted(write("x", "u", "20"), { held: undefined, seen: "15" });
  overlay.sawObject("a", "y", "v", "21");
  await Promise.resolve();
  expect(isOpen).toBe(false);
  overlay.sawObject("a", "x", "u", "22");
  overlay.sawDelete("a", "x", "u", "23");
  await opened;
});

test("the barrier can be left, and opens when everything is cleared", async () => {
  const overlay = new Overlay();
  overlay.wrote(write("x", "u", "20"), { held: undefined, seen: "15" });
  const stop = new AbortController();
  const left = overlay.passed(stop.signal);
  stop.abort(new Error("enough"));
  await expect(left).rejects.toThrow("enough");
  const opened = overlay.passed();
  overlay.clear();
  await opened;
});

test("a late answer about an earlier object of the name does not undo what is known of the later one", () => {
  for (const seen of ["10", "13"]) {
    const overlay = new Overlay();
    const known = { held: undefined, seen };
    overlay.wrote(write("x", "new", "20"), known);
    overlay.wrote(write("x", "old", "12"), known);
    expect(overlay.get("a", "x")?.uid).toBe("new");
  }
});

/** One name on a server, written by us and by others; the watch brings the events later. */
type Move =
  | "we write"
  | "we write, answered late"
  | "they write"
  | "we delete"
  | "we delete, answered late"
  | "they delete"
  | "answer"
  | "deliver"
  | "bookmark"
  | "relist";
const move = fc.constantFrom<Move>(
  "we write",
  "we write, answered late",
  "they write",
  "we delete",
  "we delete, answered late",
  "they delete",
  "answer",
  "deliver",
  "deliver",
  "bookmark",
  "relist",
);
const moves = fc.array(fc.tuple(move, fc.nat({ max: 9 })), { maxLength: 60, size: "max" });

test("what is read is never older than the answers to our writes nor than what the watch has brought, and in the end the server's state", () => {
  fc.assert(
    fc.property(moves, (sequence) => {
      const overlay = new Overlay();
      let revision = 10;
      let uids = 0;
      let server: { uid: string; version: number } | undefined;
      let store: { uid: string; version: number } | undefined;
      let seen = 10;
      /** The newest revision that a read must reflect. */
      let floor = 10;
      const history = [{ revision: 10, uid: "", is: false }];
      const pending: { revision: number; uid: string; is: boolean }[] = [];
      /** The answers that are under way; one may overtake another. */
      const answers: (() => void)[] = [];
      const known = () => ({
        held: store ? held(store.uid, String(store.version)) : undefined,
        seen: String(seen),
      });
      const happens = (change: { revision: number; uid: string; is: boolean }) => {
        history.push(change);
        pending.push(change);
        server = change.is ? { uid: change.uid, version: change.revision } : undefined;
      };
      const answered = (at: number, tell: () => void, isLate: boolean) => {
        const answer = () => {
          tell();
          floor = Math.max(floor, at);
        };
        if (isLate) answers.push(answer);
        else answer();
      };
      const deliver = () => {
        const change = pending.shift();
        if (!change) return;
        seen = change.revision;
        floor = Math.max(floor, change.revision);
        store = change.is ? { uid: change.uid, version: change.revision } : undefined;
        if (change.is) overlay.sawObject("a", "x", change.uid, String(change.revision));
        else overlay.sawDelete("a", "x", change.uid, String(change.revision));
      };
      const read = () => {
        const own = overlay.get("a", "x");
        if (own) return { uid: own.uid, version: Number(own.version) };
        return store &&
          !overlay.hides({
            namespace: "a",
            name: "x",
            uid: store.uid,
            resourceVersion: String(store.version),
          })
          ? store
          : undefined;
      };
      const take = ([what, which]: readonly [Move, number]): void => {
        revision += 1;
        const at = revision;
        const isLate = what.endsWith("late");
        switch (what) {
          case "they write":
          case "we write":
          case "we write, answered late": {
            const uid: string = server?.uid ?? `u${++uids}`;
            happens({ revision, uid, is: true });
            if (what === "they write") return;
            answered(at, () => overlay.wrote(write("x", uid, String(at)), known()), isLate);
            return;
          }
          case "they delete":
          case "we delete":
          case "we delete, answered late": {
            if (!server) return;
            const { uid, version } = server;
            happens({ revision, uid, is: false });
            if (what === "they delete") return;
            answered(at, () => overlay.deleted(write("x", uid, String(version)), known()), isLate);
            return;
          }
          case "answer":
            answers.splice(which % Math.max(1, answers.length), 1)[0]?.();
            return;
          case "deliver":
            deliver();
            return;
          case "bookmark":
            while (pending.length > 0) deliver();
            overlay.sawBookmark(String(revision), (tomb) => store?.uid === tomb.uid);
            seen = revision;
            return;
          case "relist":
            pending.length = 0;
            store = server;
            seen = revision;
            floor = Math.max(floor, history.at(-1)?.revision ?? 0);
            overlay.sawList(String(revision), (tomb) => store?.uid === tomb.uid);
        }
      };
      for (const step of sequence) {
        take(step);
        // The state read must be one the server was in at or after the floor.
        const states = history.filter(
          (_, index) => (history[index + 1]?.revision ?? Number.POSITIVE_INFINITY) > floor,
        );
        const now = read();
        const isPossible = states.some((state) =>
          now ? state.is && state.uid === now.uid && state.revision === now.version : !state.is,
        );
        expect(isPossible).toBe(true);
      }
      for (const answer of answers) answer();
      while (pending.length > 0) deliver();
      overlay.sawBookmark(String(revision + 1), (tomb) => store?.uid === tomb.uid);
      expect(read()).toEqual(server);
      expect(overlay.size).toBe(0);
    }),
    { numRuns: 2000 },
  );
});
