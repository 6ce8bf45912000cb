import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";
import { readElf, withoutSymbols } from "./elf.ts";
import { librariesOf } from "./libraries.ts";
import { fullName, imageArchive, type OciImage } from "./oci-image.ts";
import { findNode, operatorImage, writeLayers } from "./operator-image.ts";
import { foldersOf, tarArchive } from "./tar.ts";

const run = promisify(execFile);
/** A program that is linked as Node is, and small. */
const small = "/bin/ls";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-image-"));
  await mkdir(join(folder, "dist"));
  await writeFile(join(folder, "dist", "main.js"), 'console.log("runs as", import.meta.dirname);');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const smallImage = () => operatorImage({ name: "shop:1", bundle: join(folder, "dist"), node: small });

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

function blob({ files }: OciImage, digest: string): Buffer {
  const content = files.get(`blobs/${digest.replace(":", "/")}`);
  if (content === undefined) throw new Error(`there is no ${digest}`);
  return content;
}

const parsed = <T>(image: OciImage, digest: string) => JSON.parse(blob(image, digest).toString()) as T;
const sha256 = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** Unpacks the layers of an image, one over the other. */
async function unpack(image: OciImage, root: string): Promise<void> {
  await mkdir(root);
  for (const { digest } of parsed<Manifest>(image, image.digest).layers) {
    const layer = join(folder, "layer.tar");
    await writeFile(layer, gunzipSync(blob(image, digest)));
    await run("tar", ["-xf", layer, "-C", root]);
  }
}

test("Node runs from the image with the libraries of the image alone, in under 130 MB", {
  timeout: 120_000,
}, async () => {
  const image = await operatorImage({ name: "shop:1", bundle: join(folder, "dist"), node: findNode(folder) });
  const root = join(folder, "root");
  await unpack(image, root);
  const elf = readElf(await readFile(join(root, "usr/bin/node")));
  const loader = join(root, elf?.interpreter ?? "");
  const libraries = [...(await librariesOf(elf as NonNullable<typeof elf>)).keys()];
  const places = [...new Set(libraries.map((path) => join(root, path, "..")))].join(":");
  const args = [
    "--inhibit-cache",
    "--library-path",
    places,
    join(root, "usr/bin/node"),
    join(root, "app/main.js"),
  ];
  const { stdout } = await run(loader, args, { env: {} });
  expect(stdout).toBe(`runs as ${join(root, "app")}\n`);
  expect(image.unpackedBytes).toBeLessThan(130e6);
});

test("the same files give the same digest, whenever they were written", async () => {
  const first = await smallImage();
  await utimes(join(folder, "dist", "main.js"), 1, 1);
  const second = await smallImage();
  expect(second.digest).toBe(first.digest);
  expect(imageArchive(second).equals(imageArchive(first))).toBe(true);
  await writeFile(join(folder, "dist", "main.js"), "// another");
  expect((await smallImage()).digest).not.toBe(first.digest);
});

test("programs and links of a bundle stay what they are, and what umask says does not count", async () => {
  const dist = join(folder, "dist");
  await mkdir(join(dist, "bin"));
  await writeFile(join(dist, "bin", "tool.sh"), "#!/bin/sh\necho works\n");
  await chmod(join(dist, "bin", "tool.sh"), 0o700);
  await symlink("bin/tool.sh", join(dist, "tool"));
  await symlink("bin", join(dist, "programs"));
  await chmod(join(dist, "main.js"), 0o600);
  const image = await smallImage();
  const root = join(folder, "root");
  await unpack(image, root);
  expect((await run(join(root, "app", "tool"))).stdout).toBe("works\n");
  expect((await run(join(root, "app", "programs", "tool.sh"))).stdout).toBe("works\n");
  expect((await stat(join(root, "app", "main.js"))).mode & 0o777).toBe(0o644);
  expect((await stat(join(root, "app", "bin", "tool.sh"))).mode & 0o777).toBe(0o755);
  await chmod(join(dist, "main.js"), 0o644);
  expect((await smallImage()).digest).toBe(image.digest);

  for (const target of ["/etc/hostname", "../secret", "../dist-of-others/x"]) {
    await rm(join(dist, "tool"));
    await symlink(target, join(dist, "tool"));
    await expect(smallImage()).rejects.toThrow(`is a link to ${target}, which is not in`);
  }
});

test("everything in the layout is what it says it is", async () => {
  const image = await smallImage();
  for (const [path, content] of image.files)
    if (path.startsWith("blobs/")) expect(`blobs/${sha256(content).replace(":", "/")}`).toBe(path);
  const { layers, config } = parsed<Manifest>(image, image.digest);
  const { rootfs, config: running } = parsed<{
    readonly rootfs: { readonly diff_ids: readonly string[] };
    readonly config: object;
  }>(image, config.digest);
  expect(layers.map(({ size, digest }) => size === blob(image, digest).length)).toEqual([true, true]);
  expect(rootfs.diff_ids).toEqual(layers.map(({ digest }) => sha256(gunzipSync(blob(image, digest)))));
  expect(running).toMatchObject({ User: "65532:65532", Entrypoint: ["/usr/bin/node"], Cmd: ["main.js"] });
  const index = JSON.parse(image.files.get("index.json")?.toString() ?? "");
  expect(index.manifests[0]).toMatchObject({
    digest: image.digest,
    annotations: { "io.containerd.image.name": "docker.io/library/shop:1" },
  });
});

test.for([
  ["shop:1", "docker.io/library/shop:1"],
  ["acme/shop:1", "docker.io/acme/shop:1"],
  ["localhost/shop:1", "localhost/shop:1"],
  ["registry:5000/shop:1", "registry:5000/shop:1"],
] as const)("%s is %s in full", ([name, full]) => {
  expect(fullName(name)).toBe(full);
});

test("what is never loaded is left out of a program, and nothing else", async () => {
  const file = await readFile(findNode(folder));
  const cut = withoutSymbols(file);
  expect(cut.length).toBeLessThan(file.length);
  expect(readElf(cut)).toEqual(readElf(file));
  expect(withoutSymbols(cut).equals(cut)).toBe(true);
});

test("any archive is one that tar reads", async () => {
  const name = fc.stringMatching(/^[a-zä][a-z0-9._-]{0,40}$/);
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const files = fc.uniqueArray(fc.tuple(path, fc.uint8Array({ maxLength: 2_000 })), {
    minLength: 1,
    maxLength: 4,
    selector: ([one]) => one,
  });
  await fc.assert(
    fc.asyncProperty(
      files.filter((all) => !all.some(([a]) => all.some(([b]) => b.startsWith(`${a}/`)))),
      async (all) => {
        const archive = tarArchive([
          ...foldersOf(all.map(([one]) => one)),
          ...all.map(([one, content]) => ({
            type: "file" as const,
            path: one,
            content: Buffer.from(content),
          })),
        ]);
        const place = await mkdtemp(join(folder, "tar-"));
        await writeFile(join(place, "a.tar"), archive);
        await mkdir(join(place, "out"));
        await run("tar", ["-xf", join(place, "a.tar"), "-C", join(place, "out")]);
        for (const [one, content] of all)
          expect(await readFile(join(place, "out", one))).toEqual(Buffer.from(content));
      },
    ),
    { numRuns: 20 },
  );
});

test.for([
  [{ bundle: "gone" }, "build the operator first"],
  [{ bundle: "dist", main: "other.js" }, "has no main.js"],
  [{ bundle: "dist", node: "dist/main.js" }, "is not Node for Linux"],
] as const)("an image that cannot be made says what is missing: %j", async ([given, words]) => {
  if ("main" in given) {
    await rm(join(folder, "dist", "main.js"));
    await writeFile(join(folder, "dist", given.main), "");
  }
  const node = "node" in given ? join(folder, given.node) : small;
  await expect(operatorImage({ name: "a:1", bundle: join(folder, given.bundle), node })).rejects.toThrow(
    words,
  );
});

test("a library that the machine lacks is named", async () => {
  const elf = readElf(await readFile(small));
  if (elf === undefined) throw new Error(`${small} is no program`);
  await expect(librariesOf({ ...elf, needed: ["libwindlass.so.9"] })).rejects.toThrow("libwindlass.so.9");
  await expect(librariesOf(elf, folder)).rejects.toThrow("Linux with glibc");
});

async function image(...args: readonly string[]) {
  const terminal = recordingTerminal({ folder });
  const code = await runProgram(windlass, ["image", ...args], terminal);
  return { code, said: terminal.said(), complained: terminal.complained() };
}

test("windlass image writes a layout or an archive, and says what it made", async () => {
  const { code, said } = await image("acme/shop:1.2.0", "--node", small, "--format", "layout", "--json");
  expect(code).toBe(0);
  const { digest, output } = JSON.parse(said) as { readonly digest: string; readonly output: string };
  expect(output).toBe(join(folder, ".windlass", "image"));
  expect(sha256(await readFile(join(output, "blobs", digest.replace(":", "/"))))).toBe(digest);
  const archive = await image("acme/shop:1.2.0", "--node", small, "-o", "shop.tar");
  expect(archive.said).toContain(digest);
  const { stdout } = await run("tar", ["-tf", join(folder, "shop.tar")]);
  expect(stdout).toContain("oci-layout\nindex.json\nmanifest.json\n");
});

test("a layout has the blobs of one image, and replaces nothing but a layout", async () => {
  const layout = (...args: readonly string[]) =>
    image("acme/shop:1.2.0", "--node", small, "--format", "layout", ...args);
  const blobs = () => readdir(join(folder, ".windlass", "image", "blobs", "sha256"));
  await layout();
  const before = await blobs();
  await writeFile(join(folder, "dist", "main.js"), "// another");
  await layout();
  expect(await blobs()).toHaveLength(before.length);
  expect(await blobs()).not.toEqual(before);
  const { code, complained } = await layout("--output", "dist");
  expect({ code, complained }).toEqual({
    code: 1,
    complained: `error: ${join(folder, "dist")} is not empty, and no OCI layout: name another folder with --output\n`,
  });
  expect(await readdir(join(folder, "dist"))).toEqual(["main.js"]);
});

test("the files of an image are those that its container sees, in a folder for a Dockerfile", async () => {
  const { code, said } = await image("--node", small, "--format", "files");
  expect(code).toBe(0);
  expect(said).toMatch(/^[\d.]+ MB in \.windlass\/files\n$/);
  const root = join(folder, "root");
  await unpack(await smallImage(), root);
  await run("diff", ["--recursive", root, join(folder, ".windlass", "files")]);
  const modes = (place: string) => run("find", [".", "-printf", "%P %m\\n"], { cwd: place });
  const sorted = ({ stdout }: { readonly stdout: string }) => stdout.split("\n").toSorted();
  expect(sorted(await modes(join(folder, ".windlass", "files")))).toEqual(sorted(await modes(root)));
  expect(await image("--node", small, "--format", "files")).toMatchObject({
    code: 1,
    complained: expect.stringContaining("is not empty"),
  });
});

test("files that cannot be written leave nothing behind", async () => {
  const content = Buffer.from("x");
  const place = join(folder, "files");
  const layers = [["a", "a/b"].map((path) => ({ type: "file" as const, path, content }))];
  await expect(writeLayers(layers, place)).rejects.toThrow();
  expect(await readdir(folder)).not.toContain("files");
});

test("an image elsewhere is shown by its whole path", async () => {
  const elsewhere = await mkdtemp(join(tmpdir(), "windlass-image-elsewhere-"));
  try {
    const output = join(elsewhere, "shop.tar");
    const { said } = await image("acme/shop:1.2.0", "--node", small, "--output", output);
    expect(said).toContain(`  file    ${output}\n`);
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
});

test("windlass image wants a name with a tag, and a format that there is", async () => {
  expect((await image("shop")).code).toBe(2);
  expect((await image("shop:1", "--format", "zip")).code).toBe(2);
  expect((await image()).complained).toContain("windlass.config.ts");
});
