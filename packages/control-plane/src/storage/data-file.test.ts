import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import { type JsonObject, parse, stringify } from "../json.ts";
import { DataFile } from "./data-file.ts";
import { DataFileError } from "./data-file-error.ts";
import { Store } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "data-"));
  path = join(folder, "state");
});
afterEach(() => rmSync(folder, { recursive: true }));

const identity = { authority: { certificate: "c", key: "k" }, tokenKey: "t" };

function open(at = path): { data: DataFile; store: Store } & Disposable {
  const data = DataFile.open(at, () => identity);
  try {
    return { data, store: new Store({ journal: data }), [Symbol.dispose]: () => data.close() };
  } catch (error) {
    data.close();
    throw error;
  }
}

type Contents = Readonly<Record<string, JsonObject>>;

function contents(store: Store): Contents {
  return Object.fromEntries(
    store
      .buckets()
      .flatMap((bucket) => [...store.entries(bucket)].map(({ key, object }) => [`${bucket}/${key}`, object])),
  );
}

/** What a start finds in a file. */
function found(at: string): Contents {
  using opened = open(at);
  expect(opened.data.identity).toEqual(identity);
  return contents(opened.store);
}

function object(name: string, data: string): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, uid: `uid-${name}` }, data: { data } };
}

interface Write {
  readonly key: string;
  /** Undefined deletes. */
  readonly data: string | undefined;
}

const writes = fc.array(
  fc.record({
    key: fc.constantFrom("a", "b", "c", "d"),
    data: fc.option(fc.string({ maxLength: 12_000 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 20, size: "max" },
);

function apply(store: Store, { key, data }: Write): void {
  if (data === undefined) store.delete("configmaps", key);
  else store.put("configmaps", key, object(key, data));
}

/** The files of a data file as a process that is killed now leaves them. */
function copyTo(to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of ["state", "state-wal"]) {
    rmSync(join(to, name), { force: true });
    if (readdirSync(folder).includes(name)) copyFileSync(join(folder, name), join(to, name));
  }
}

test("what was written is there after a restart, and versions go on", () => {
  let before: Contents;
  let revision: number;
  {
    using first = open();
    first.store.put("configmaps", "a", object("a", "1"));
    first.store.put("configmaps", "a", object("a", "2"));
    first.store.put("configmaps", "b", object("b", "1"));
    first.store.delete("configmaps", "b");
    ({ revision } = first.store);
    before = contents(first.store);
  }
  using second = open();
  expect(contents(second.store)).toEqual(before);
  expect(second.store.put("configmaps", "c", object("c", "1")).revision).toBe(revision + 1);
  expect(second.data.identity).toEqual(identity);
});

test("whatever is stored is read back as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.string(), (value, bucket, key) => {
      rmSync(path, { force: true });
      const stored = { ...object("a", ""), value: parse(JSON.stringify(value)) as JsonObject };
      let kept: JsonObject;
      {
        using first = open();
        kept = first.store.put(bucket, key, stored).object;
      }
      using second = open();
      // A float that is whole comes back as the integer that it is written as.
      expect(stringify(second.store.get(bucket, key)?.object ?? null)).toBe(stringify(kept));
    }),
    { numRuns: 20, examples: [[{ "": 9007199254740992 }, "", ""]] },
  );
});

test("a process that is killed at any moment leaves all it has acknowledged, and of the write under way all or nothing", () => {
  fc.assert(
    fc.property(writes, fc.double({ min: 0, max: 1, noNaN: true }), (list, fraction) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      using opened = open();
      const killed = join(folder, "killed");
      const log = join(killed, "state-wal");
      const size = () => statSync(`${path}-wal`).size;
      for (const write of list) {
        const before = { contents: contents(opened.store), size: size() };
        apply(opened.store, write);
        copyTo(killed);
        expect(found(join(killed, "state"))).toEqual(contents(opened.store));
        // The log is only ever appended to: a write that was under way is a log that ends early.
        const length = before.size + Math.floor((size() - before.size) * fraction);
        if (length === size()) continue;
        copyTo(killed);
        truncateSync(log, length);
        expect(found(join(killed, "state"))).toEqual(before.contents);
      }
    }),
    { numRuns: 8 },
  );
});

test("a process that is killed while the log is worked into the file leaves all it has acknowledged", () => {
  fc.assert(
    fc.property(writes, fc.infiniteStream(fc.boolean()), (list, chosen) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      const killed = join(folder, "killed");
      let expected: Contents;
      {
        using opened = open();
        apply(opened.store, { key: "large", data: "x".repeat(50_000) });
        for (const write of list) apply(opened.store, write);
        expected = contents(opened.store);
        copyTo(killed);
      }
      // Closing works the log in, page by page. Some pages have been written, others not.
      const at = join(killed, "state");
      const [old, worked] = [readFileSync(at), readFileSync(path)];
      const mixed = Buffer.from(worked);
      for (let page = 0; page < old.length; page += 4_096) {
        if (chosen.next().value) old.copy(mixed, page, page, page + 4_096);
      }
      // The file may not have grown yet, though its first page has the new size.
      writeFileSync(at, chosen.next().value ? mixed : mixed.subarray(0, old.length));
      expect(found(at)).toEqual(expected);
    }),
    { numRuns: 15 },
  );
});

test("versions never go back, not even when the machine loses the last writes with its power", () => {
  const lost = join(folder, "lost");
  let latest: number;
  {
    using opened = open();
    copyTo(lost);
    for (let i = 0; i < 10; i++) opened.store.put("configmaps", "a", object("a", String(i)));
    latest = opened.store.revision;
  }
  using again = open(join(lost, "state"));
  expect(contents(again.store)).toEqual({});
  expect(again.store.put("configmaps", "a", object("a", "")).revision).toBeGreaterThan(latest);
});

test("a long run reserves versions again and again", () => {
  using opened = open();
  for (let i = 0; i < 10_100; i++) opened.store.put("configmaps", "a", object("a", String(i)));
  const killed = join(folder, "killed");
  copyTo(killed);
  using again = open(join(killed, "state"));
  expect(contents(again.store)).toEqual(contents(opened.store));
  expect(again.store.revision).toBeGreaterThanOrEqual(opened.store.revision);
});

/** A file with something in it, closed. */
function filled(): { readonly bytes: Buffer; readonly contents: Contents } {
  {
    using opened = open();
    for (let i = 0; i < 40; i++) {
      opened.store.put("configmaps", `key-${i}`, object(`key-${i}`, "text ".repeat(i * i)));
    }
    for (let i = 0; i < 40; i += 3) opened.store.delete("configmaps", `key-${i}`);
  }
  return { bytes: readFileSync(path), contents: found(path) };
}

/** @returns what a start finds, or why it refuses to */
function outcome(at: string): Contents | string {
  try {
    return found(at);
  } catch (error) {
    if (error instanceof DataFileError) return error.code;
    throw error;
  }
}

test("a file with a damaged byte is refused, if the damage is in anything that counts", () => {
  const { bytes, contents: before } = filled();
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (index, flip) => {
      const spoiled = Buffer.from(bytes);
      spoiled[index] = (spoiled[index] ?? 0) ^ flip;
      writeFileSync(path, spoiled);
      const after = outcome(path);
      if (typeof after === "string") {
        expect(after).toMatch(/^DATA_FILE_(DAMAGED|FOREIGN|VERSION)$/);
        // A refused file is left as it is, for its owner to mend.
        expect(readFileSync(path).equals(spoiled)).toBe(true);
      } else expect(after).toEqual(before);
    }),
    { numRuns: 300 },
  );
});

test("a file that has lost a row is refused, though what is left of it is in order", () => {
  const { bytes, contents: before } = filled();
  const leaf = 0x0d;
  const pages = Array.from({ length: bytes.length / 4_096 - 1 }, (_, index) => 4_096 * (index + 1));
  const leaves = pages.filter((at) => bytes[at] === leaf && bytes.readUInt16BE(at + 3) > 0);
  const refused = leaves.filter((at) => {
    const spoiled = Buffer.from(bytes);
    spoiled.writeUInt16BE(spoiled.readUInt16BE(at + 3) - 1, at + 3);
    writeFileSync(path, spoiled);
    const after = outcome(path);
    // A page that is no longer used may hold what it likes.
    if (typeof after !== "string") expect(after, `page at ${at}`).toEqual(before);
    return after === "DATA_FILE_DAMAGED";
  });
  expect(refused.length).toBeGreaterThan(3);
});

test("a file that was cut off anywhere is refused", () => {
  const { bytes } = filled();
  for (const length of [0, 1, 15, 16, 99, 100, 512, 4_095, 4_096, 4_097, bytes.length - 4_096]) {
    writeFileSync(path, bytes.subarray(0, length));
    expect(outcome(path), String(length)).toMatch(/^DATA_FILE_(DAMAGED|FOREIGN)$/);
    expect(statSync(path).size).toBe(length);
  }
  writeFileSync(path, "");
  expect(() => open()).toThrow(`${path} is damaged (it is empty): put a copy in its place`);
});

test("a missing file with an existing log does not start empty", () => {
  {
    using opened = open();
    opened.store.put("configmaps", "a", object("a", "1"));
    copyTo(join(folder, "killed"));
  }
  rmSync(join(folder, "killed", "state"));
  expect(() => open(join(folder, "killed", "state"))).toThrow(/state-wal: put .*state back, or remove/);
});

test.for([
  ["text", "hello\nworld\n"],
  ["text without a line break", "hello"],
  ["text longer than a page", "hello ".repeat(2_000)],
])("a file that is something else is refused, and left as it is: %s", ([, text = ""]) => {
  writeFileSync(path, text, { mode: 0o644 });
  expect(() => open()).toThrow(
    `${path} is not a data file of windlass-control-plane: choose another, or move it away`,
  );
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(statSync(path).mode & 0o777).toBe(0o644);
});

test("another program's database is refused, and left as it is", () => {
  const other = new DatabaseSync(path);
  other.exec("PRAGMA journal_mode = WAL; CREATE TABLE plane (id, identity, revision)");
  // Still open: with a log of its own, which is not ours to work in.
  const before = ["state", "state-wal"].map((name) => readFileSync(join(folder, name)));
  expect(outcome(path)).toBe("DATA_FILE_FOREIGN");
  expect(["state", "state-wal"].map((name) => readFileSync(join(folder, name)))).toEqual(before);
  other.close();
  expect(outcome(path)).toBe("DATA_FILE_FOREIGN");
});

test("a file of a newer version is refused, and so is one of the time before SQLite, with a way out", () => {
  open()[Symbol.dispose]();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 2");
  database.close();
  expect(() => open()).toThrow(/was written by a newer version of windlass-control-plane/);
  const log = '{"format":"windlass-control-plane/1","identity":{}}\n{"revision":7}\n';
  writeFileSync(path, log);
  expect(() => open()).toThrow(
    /before it kept its data in SQLite: move it away to start over; to keep its objects/,
  );
  expect(readFileSync(path, "utf8")).toBe(log);
});

test("what is no file at all is refused", () => {
  mkdirSync(path);
  expect(() => open()).toThrow(`${path} is not a regular file`);
  const link = join(folder, "link");
  symlinkSync(join(folder, "nowhere"), link);
  expect(() => open(link)).toThrow(`${link} is a link to nothing`);
});

test("a file is for one control plane at a time, by whatever name and from whatever process", () => {
  {
    using opened = open();
    opened.store.put("configmaps", "a", object("a", "1"));
    symlinkSync(path, join(folder, "symbolic"));
    linkSync(path, join(folder, "hard"));
    mkdirSync(join(folder, "else"));
    symlinkSync(folder, join(folder, "else", "folder"));
    for (const name of ["state", "symbolic", "hard", "else/folder/state"]) {
      const at = join(folder, name);
      expect(() => open(at), name).toThrow(
        `${at} is in use by another control plane: stop it, or choose another file`,
      );
      const { stderr } = spawnSync(process.execPath, [writer, at, "1"], { encoding: "utf8" });
      expect(stderr, name).toMatch(/DataFileError: .* is in use by another control plane/);
    }
    // Those who were refused have taken nothing from the holder.
    opened.store.put("configmaps", "b", object("b", "1"));
  }
  rmSync(join(folder, "hard"));
  expect(Object.keys(found(join(folder, "symbolic")))).toEqual(["configmaps/a", "configmaps/b"]);
});

const writer = new URL("./writer.fixture.ts", import.meta.url).pathname;

test("all of it is for its owner alone, also where it was not before", () => {
  for (const mode of [0o644, 0o600]) {
    using opened = open();
    opened.store.put("configmaps", "a", object("a", "1"));
    const names = readdirSync(folder);
    expect(names).toContain("state-wal");
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    opened.data.close();
    chmodSync(path, mode);
  }
});

test("nothing is left beside a file that was closed", () => {
  open()[Symbol.dispose]();
  expect(readdirSync(folder)).toEqual(["state"]);
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
