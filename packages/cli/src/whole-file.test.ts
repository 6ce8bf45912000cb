import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { replaceFolder, writeWhole } from "./whole-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-whole-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("folders on the way are made, and a link stays a link", async () => {
  const file = join(folder, "a", "b", "text");
  await writeWhole(file, "one");
  const link = join(folder, "link");
  await symlink(file, link);
  await writeWhole(link, "two");
  expect(await readFile(file, "utf8")).toBe("two");
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
});

test("a write that fails leaves what was there, and nothing else, and is explained", async () => {
  const file = join(folder, "text");
  await writeFile(file, "before");
  // No such content can be written: the text ends in mid-write.
  const broken = (function* () {
    yield "half";
    throw Object.assign(new Error("write"), { code: "ENOSPC", syscall: "write" });
  })() as unknown as string;
  await expect(writeWhole(file, broken)).rejects.toThrow(
    `${file} could not be written: no space is left on the disk`,
  );
  expect(await readFile(file, "utf8")).toBe("before");
  expect(await readdir(folder)).toEqual(["text"]);
});

test("a folder is replaced as a whole, or stays as it was", async () => {
  const place = join(folder, "image");
  const write = (name: string) =>
    replaceFolder(place, async (unfinished) => {
      await mkdir(unfinished);
      await writeFile(join(unfinished, name), "");
    });
  await write("one");
  await write("two");
  expect(await readdir(place)).toEqual(["two"]);
  const full = replaceFolder(place, async (unfinished) => {
    await mkdir(unfinished);
    await writeFile(join(unfinished, "three"), "");
    throw Object.assign(new Error("write"), { code: "ENOSPC", syscall: "write" });
  });
  await expect(full).rejects.toThrow(`${place} could not be written: no space is left on the disk`);
  const missing = replaceFolder(place, (unfinished) => writeFile(join(unfinished, "four"), ""));
  await expect(missing).rejects.toThrow(`${place} could not be written: there is no ${folder}`);
  expect(await readdir(folder)).toEqual(["image"]);
  expect(await readdir(place)).toEqual(["two"]);
});

test.runIf(process.platform === "linux")("a device is written to, not replaced", async () => {
  await writeWhole("/dev/null", "gone");
  expect((await lstat("/dev/null")).isCharacterDevice()).toBe(true);
  await expect(writeWhole("/dev/full", "too much")).rejects.toThrow(
    "/dev/full could not be written: no space is left on the disk",
  );
});

test("a folder in the way is named", async () => {
  await mkdir(join(folder, "text"));
  await expect(writeWhole(join(folder, "text"), "one")).rejects.toThrow(/text could not be written: .*text/);
  await writeFile(join(folder, "file"), "");
  await expect(writeWhole(join(folder, "file", "below"), "one")).rejects.toThrow(
    `${join(folder, "file")} is a file, not a folder`,
  );
});

// Nobody makes files there, not even root.
test.runIf(process.platform === "linux")("a folder that cannot be written to is named", async () => {
  await expect(writeWhole("/sys/windlass", "one")).rejects.toThrow(
    /^\/sys\/windlass could not be written: (you have no permission for \/sys|the file system of \/sys is read-only)$/,
  );
});

// On Linux no folder can be made below /proc, not even by root.
test.runIf(process.platform === "linux")("a folder that cannot be made is named", async () => {
  await expect(writeWhole("/proc/windlass/a/b", "one")).rejects.toThrow(
    "/proc/windlass/a/b could not be written: there is no /proc/windlass",
  );
});
