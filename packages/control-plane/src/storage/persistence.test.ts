import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { JsonObject } from "../json.ts";
import { DataFile } from "./persistence.ts";
import { Store } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "data-"));
  path = join(folder, "state");
});
afterEach(() => rmSync(folder, { recursive: true }));

const identity = { authority: { certificate: "c", key: "k" }, tokenKey: "t" };

function fresh(at = path): { data: DataFile; store: Store } {
  const data = DataFile.open(at);
  const store = new Store();
  if (!data.identity) data.identify(identity);
  data.follow(store);
  return { data, store };
}

function contents(store: Store): Record<string, JsonObject> {
  return Object.fromEntries(
    store
      .buckets()
      .flatMap((bucket) => [...store.entries(bucket)].map(({ key, object }) => [`${bucket}/${key}`, object])),
  );
}

function object(name: string, data: string): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, uid: `uid-${name}` }, data: { data } };
}

test("what was written is there after a restart, and versions go on", () => {
  const first = fresh();
  first.store.put("configmaps", "a", object("a", "1"));
  first.store.put("configmaps", "a", object("a", "2"));
  first.store.put("configmaps", "b", object("b", "1"));
  first.store.delete("configmaps", "b");
  const { revision } = first.store;
  const before = contents(first.store);
  first.data.close();
  const second = fresh();
  expect(contents(second.store)).toEqual(before);
  expect(second.store.put("configmaps", "c", object("c", "1")).revision).toBeGreaterThan(revision);
  expect(second.data.identity).toEqual(identity);
  second.data.close();
});

type Write = { key: string; data: string } | { key: string; data: undefined };

const writes = fc.array(
  fc.record({
    key: fc.constantFrom("a", "b", "c", "d"),
    data: fc.option(fc.string(), { nil: undefined }),
  }),
  { maxLength: 20, size: "max" },
) as fc.Arbitrary<Write[]>;

test("a file that is cut off anywhere gives the state after some write, and no other", () => {
  fc.assert(
    fc.property(writes, fc.double({ min: 0, max: 1, noNaN: true }), (list, cut) => {
      const at = join(folder, "property");
      rmSync(at, { force: true });
      const { data, store } = fresh(at);
      const states = [contents(store)];
      for (const { key, data: value } of list) {
        if (value === undefined) store.delete("configmaps", key);
        else store.put("configmaps", key, object(key, value));
        states.push(contents(store));
      }
      const { revision } = store;
      data.close();
      const size = statSync(at).size;
      truncateSync(at, Math.round(size * cut));
      const again = fresh(at);
      const found = contents(again.store);
      const whole = cut === 1;
      again.data.close();
      expect(whole ? [states.at(-1)] : states).toContainEqual(found);
      if (whole && list.length > 0) expect(again.store.revision).toBeGreaterThanOrEqual(revision);
    }),
    { numRuns: 60 },
  );
});

test("a write that was cut off is gone, and the next one starts on a line of its own", () => {
  const first = fresh();
  first.store.put("configmaps", "a", object("a", "1"));
  first.data.close();
  appendFileSync(path, '{"revision":99,"bucket":"configmaps","key":"torn","obj');
  const second = fresh();
  expect(Object.keys(contents(second.store))).toEqual(["configmaps/a"]);
  second.store.put("configmaps", "b", object("b", "1"));
  second.data.close();
  const third = fresh();
  expect(Object.keys(contents(third.store))).toEqual(["configmaps/a", "configmaps/b"]);
  third.data.close();
});

test("a file that grows by rewriting the same objects is written anew", () => {
  const first = fresh();
  const large = "x".repeat(100_000);
  for (let i = 0; i < 200; i++) first.store.put("configmaps", "a", object("a", `${large}${i}`));
  const before = contents(first.store);
  first.data.close();
  expect(statSync(path).size).toBeLessThan(10_000_000);
  const second = fresh();
  expect(contents(second.store)).toEqual(before);
  second.data.close();
});

test("a file is for one control plane at a time, and for its owner alone", () => {
  const { data } = fresh();
  expect(() => DataFile.open(path)).toThrow(/in use by this process/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  data.close();
  writeFileSync(`${path}.lock`, "1 0");
  fresh().data.close();
});

test("a file that is something else is refused, and left as it is", () => {
  writeFileSync(path, "hello\nworld\n");
  expect(() => DataFile.open(path)).toThrow(/line 1 is not what a control plane writes/);
  expect(readFileSync(path, "utf8")).toBe("hello\nworld\n");
});

test("kubeconfigs and tokens outlive a restart", async () => {
  const start = () => ControlPlane.start({ data: path, controllers: "none" });
  const first = await start();
  const serviceAccount = first.store.put("serviceaccounts", "default/robot", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "robot", namespace: "default", uid: "0a0a0a0a-0000-4000-8000-000000000000" },
  }).object;
  const { audiences } = first.tokens;
  const { token } = await first.tokens.issue({ serviceAccount, audiences, expirationSeconds: 3_600 });
  const { certificate } = first.authority;
  const url = await first.listen();
  await first.close();
  await using second = await start();
  expect(second.authority.certificate).toBe(certificate);
  expect(await second.listen()).toBe(url);
  const { status } = await second.connect({ name: "", groups: [] }).request({
    method: "GET",
    path: "/api/v1/namespaces/default/pods",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(status).toBe(403);
});
