import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { importsIn } from "./import-graph.ts";

const root = join(import.meta.dirname, "..");

/** What each room may use at run time. Layers only look down. */
const mayUse: { readonly [room: string]: readonly string[] } = {
  "packages/clock": [],
  "packages/kinds": [],
  "packages/certificates": ["clock"],
  "packages/relay": ["clock"],
  "packages/client": ["clock", "certificates", "kinds"],
  "packages/control-plane": ["clock", "certificates", "kinds"],
  "packages/runtime": ["clock", "certificates", "kinds", "client"],
  "packages/testing": ["clock", "certificates", "kinds", "client", "runtime", "control-plane"],
  "packages/cli": ["clock", "certificates", "kinds", "client", "runtime", "control-plane", "testing"],
  "packages/create-windlass": ["cli"],
};
/** An operator stands on the framework: what it runs with in a cluster is what it may use. */
const operatorsMayUse = ["clock", "certificates", "kinds", "relay", "client", "runtime"];
/**
 * An operator's own command runs on a user's machine, with the options, help and exit codes of
 * `windlass`, and what checks resources offline.
 */
const operatorCommandsMayUse = [...operatorsMayUse, "cli", "control-plane"];

interface Manifest {
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Import {
  readonly room: string;
  readonly file: string;
  readonly what: string;
  readonly isTest: boolean;
}

async function roomsOf(): Promise<string[]> {
  const rooms: string[] = [];
  for await (const file of glob(["packages/*/package.json", "operators/*/package.json"], { cwd: root }))
    rooms.push(dirname(file));
  return rooms.toSorted();
}

/** Every import of every source, those within functions too. */
async function importsOf(room: string): Promise<Import[]> {
  const imports: Import[] = [];
  for await (const file of glob(`${room}/{src,scripts}/**/*.ts`, { cwd: root })) {
    const text = await readFile(join(root, file), "utf8");
    const isTest = /\.(test|fixture)\.ts$|\/scripts\//.test(file);
    for (const what of importsIn(text)) imports.push({ room, file, what, isTest });
  }
  return imports;
}

async function manifestOf(room: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, room, "package.json"), "utf8")) as Manifest;
}

const rooms = await roomsOf();
const imports = (await Promise.all(rooms.map(importsOf))).flat();
const ours = imports.filter(({ what }) => what.startsWith("@windlass/"));
const packageOf = (what: string) =>
  what
    .split("/")
    .slice(0, what.startsWith("@") ? 2 : 1)
    .join("/");
const say = ({ file, what }: Import) => `${file} imports ${what}`;

function allowedIn({ room, file }: Import): readonly string[] {
  if (!room.startsWith("operators/")) return mayUse[room] ?? [];
  return file.startsWith(`${room}/src/cli/`) ? operatorCommandsMayUse : operatorsMayUse;
}

test("every room has its place among the layers", () => {
  const unknown = rooms.filter((room) => room.startsWith("packages/") && !Object.hasOwn(mayUse, room));
  expect(unknown, "to be given a place in mayUse").toEqual([]);
});

test("layers only look down", () => {
  const upward = ours.filter(
    (one) => !one.isTest && !allowedIn(one).includes(packageOf(one.what).slice("@windlass/".length)),
  );
  expect(upward.map(say)).toEqual([]);
});

test("the control plane knows neither the client nor the runtime, not even in its tests", () => {
  const known = ours.filter(
    ({ room, what }) => room === "packages/control-plane" && /^@windlass\/(client|runtime)(\/|$)/.test(what),
  );
  expect(known.map(say)).toEqual([]);
});

test("what one room takes from another, the other exports", async () => {
  const deep: string[] = [];
  for (const one of ours) {
    const name = packageOf(one.what).slice("@windlass/".length);
    const place = [`packages/${name}`, `operators/${name}`].find((room) => rooms.includes(room));
    const entry = `.${one.what.slice(`@windlass/${name}`.length)}`;
    const exported = place === undefined ? undefined : (await manifestOf(place)).exports?.[entry];
    if (exported === undefined || !existsSync(join(root, place ?? "", exported))) deep.push(say(one));
  }
  expect(deep).toEqual([]);
});

test("no path leads out of a room", () => {
  const leaving = imports.filter(({ room, file, what }) => {
    if (!what.startsWith(".")) return false;
    const target = join(root, dirname(file), what);
    // A program that packages a room uses the tools that package all of them.
    if (file.startsWith(`${room}/scripts/`) && !relative(join(root, "scripts"), target).startsWith(".."))
      return false;
    return relative(join(root, room), target).startsWith("..");
  });
  expect(leaving.map(say)).toEqual([]);
});

test("what a room needs at run time, its package asks for", async () => {
  const missing = new Set<string>();
  for (const { room, what, isTest } of imports) {
    if (isTest || what.startsWith(".") || what.startsWith("node:")) continue;
    const { dependencies = {}, peerDependencies = {} } = await manifestOf(room);
    if (!Object.hasOwn({ ...dependencies, ...peerDependencies }, packageOf(what)))
      missing.add(`${room} needs ${packageOf(what)}`);
  }
  expect([...missing]).toEqual([]);
});
