import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** A folder that the tree of ARCHITECTURE.md describes, with the lines below it. */
interface Room {
  readonly path: string;
  readonly text: string;
}

/** What the tree says of each package, each operator, and the tests. */
function describedRooms(document: string): Room[] {
  const [, tree = ""] = /^```\n([\s\S]*?)^```/m.exec(document) ?? [];
  const rooms: Room[] = [];
  let top = "";
  for (const line of tree.split("\n")) {
    const [, indent, name] = /^( *)([\w-]+)\//.exec(line) ?? [];
    if (indent === "") {
      top = `${name}`;
      rooms.push({ path: top, text: line });
    } else if (indent === "  ") rooms.push({ path: `${top}/${name}`, text: line });
    const path = indent === undefined || indent.length > 2 ? rooms.at(-1)?.path : top;
    const parent = rooms.find((room) => room.path === path);
    if (parent) rooms[rooms.indexOf(parent)] = { ...parent, text: `${parent.text}\n${line}` };
  }
  return rooms;
}

/** The folders that a room's text names: `name/`. */
function named(text: string): string[] {
  return [...text.matchAll(/(?<![\w/-])([\w-]+)\/(?![\w*])/g)].map(([, name = ""]) => name);
}

async function foldersIn(path: string): Promise<string[]> {
  if (!existsSync(join(root, path))) return [];
  const entries = await readdir(join(root, path), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

const rooms = describedRooms(await readFile(join(root, "ARCHITECTURE.md"), "utf8"));
const textOf = (path: string) => rooms.find((room) => room.path === path)?.text ?? "";

test("ARCHITECTURE.md names every package, every operator and every suite", async () => {
  const missing: string[] = [];
  for (const top of ["packages", "operators", "tests"])
    for (const name of await foldersIn(top))
      if (!named(textOf(top)).includes(name)) missing.push(`${top}/${name}`);
  expect(missing).toEqual([]);
});

test("ARCHITECTURE.md names every folder of sources under its package or operator", async () => {
  const missing: string[] = [];
  for (const top of ["packages", "operators"])
    for (const name of await foldersIn(top))
      for (const folder of await foldersIn(`${top}/${name}/src`))
        if (folder !== "generated" && !named(textOf(`${top}/${name}`)).includes(folder))
          missing.push(`${top}/${name}/src/${folder}`);
  expect(missing).toEqual([]);
});

test("the folders that ARCHITECTURE.md names exist", async () => {
  const gone: string[] = [];
  for (const { path, text } of rooms.filter((room) => room.path.includes("/"))) {
    const below = await readdir(join(root, path), { recursive: true, withFileTypes: true });
    const there = new Set(below.filter((entry) => entry.isDirectory()).map(({ name }) => name));
    for (const name of named(text.slice(text.indexOf("/") + 1)))
      if (!there.has(name)) gone.push(`${path}: ${name}/`);
  }
  expect(gone).toEqual([]);
});
