import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigMap, Pod, Volume } from "@windlass/kinds/builtin";
import { afterEach, beforeEach, expect, test } from "vitest";
import { storedObject } from "../storage/stored.fixture.ts";
import type { Finder } from "./environment.ts";
import { filesOf, sourceOf, UnsupportedVolume, writeFiles } from "./volumes.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "volumes-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "1", labels: { app: "web" } };
const pod = storedObject<Pod>({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [] } });
const settings = storedObject<ConfigMap>({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...metadata, name: "settings" },
  data: { a: "1", b: "2" },
  binaryData: { c: Buffer.from([0, 255]).toString("base64") },
});

const files = async (volume: Volume) => {
  const made = await filesOf(volume, {
    pod,
    podAddress: "127.5.0.2",
    hostAddress: "127.5.255.1",
    allocatable: {},
    find: ((bucket, name) =>
      bucket === "configmaps" && name === "settings" ? settings : undefined) as Finder,
    token: ({ audience }) => Promise.resolve(`token for ${audience}`),
  });
  return [...made].map(([path, { content, mode }]) => [path, Buffer.from(content).toString("latin1"), mode]);
};

test("a ConfigMap's keys are files, all of them or those that are named", async () => {
  expect(await files({ name: "v", configMap: { name: "settings" } })).toEqual([
    ["a", "1", 0o644],
    ["b", "2", 0o644],
    ["c", "\x00\xff", 0o644],
  ]);
  const items = [{ key: "b", path: "deep/b.txt", mode: 0o600 }];
  expect(await files({ name: "v", configMap: { name: "settings", items, defaultMode: 0o400 } })).toEqual([
    ["deep/b.txt", "2", 0o600],
  ]);
  expect(await files({ name: "v", configMap: { name: "absent", optional: true } })).toEqual([]);
});

test("a projected volume puts together what comes from several places", async () => {
  const sources = [
    { serviceAccountToken: { path: "token", audience: "vault" } },
    { configMap: { name: "settings", items: [{ key: "a", path: "a" }] } },
    { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
  ];
  expect(await files({ name: "v", projected: { sources, defaultMode: 0o440 } })).toEqual([
    ["token", "token for vault", 0o440],
    ["a", "1", 0o440],
    ["labels", 'app="web"', 0o440],
  ]);
});

test("a path that leads out of its volume is not written", async () => {
  const items = [
    { key: "a", path: "../a" },
    { key: "b", path: "/b" },
  ];
  expect(await files({ name: "v", configMap: { name: "settings", items } })).toEqual([]);
});

test("files change all at once, and those that are gone are gone", async () => {
  const file = (text: string) => ({ content: Buffer.from(text), mode: 0o640 });
  await writeFiles(
    directory,
    new Map([
      ["x", file("old")],
      ["deep/y", file("old")],
    ]),
  );
  expect(readFileSync(join(directory, "deep/y"), "utf8")).toBe("old");
  expect(statSync(join(directory, "x")).mode & 0o777).toBe(0o640);
  const before = readlinkSync(join(directory, "..data"));
  await writeFiles(directory, new Map([["x", file("new")]]));
  expect(readFileSync(join(directory, "x"), "utf8")).toBe("new");
  expect(readlinkSync(join(directory, "..data"))).not.toBe(before);
  expect(() => statSync(join(directory, "deep/y"))).toThrow("ENOENT");
});

test("a volume with no local form is refused by its name", () => {
  const places = { own: "/own", claims: "/claims" };
  expect(sourceOf({ name: "d", persistentVolumeClaim: { claimName: "data" } }, places, "web")).toBe(
    "/claims/data",
  );
  expect(() => sourceOf({ name: "d", nfs: { server: "x", path: "/" } }, places, "web")).toThrow(
    UnsupportedVolume,
  );
});
