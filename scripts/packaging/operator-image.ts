import { execFileSync } from "node:child_process";
import { glob, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { build } from "rolldown";
import { loadOperator } from "../../packages/cli/src/generate/load.ts";
import { imageArchive, type OciImage } from "../../packages/cli/src/image/oci-image.ts";
import {
  findNode,
  operatorImage,
  operatorLayers,
  writeLayers,
} from "../../packages/cli/src/image/operator-image.ts";
import { embedFiles } from "./embedded-files.ts";
import { root } from "./source-packages.ts";

/** The program that runs the cluster which images are tried on. */
export const lab = process.env.WINDLASS_LAB ?? join(root, "..", "shared", "lab", "lab");

/**
 * Bundles the programs of an operator of this repository into a folder: `src/main.ts`, and each
 * other `src/NAME-main.ts`, become one file each, with all that they need.
 */
export async function bundleOperator(operator: string, folder: string): Promise<void> {
  const sources = join(root, "operators", operator, "src");
  for await (const program of glob("{main,*-main}.ts", { cwd: sources }))
    await build({
      input: join(sources, program),
      cwd: sources,
      platform: "node",
      plugins: [embedFiles()],
      output: { file: join(folder, `${basename(program, ".ts")}.js`), format: "esm", codeSplitting: false },
      logLevel: "warn",
    });
}

/**
 * An image of an operator of this repository.
 *
 * @param name @default the one that it declares
 */
export async function imageOf(operator: string, name?: string): Promise<OciImage> {
  const place = join(root, "operators", operator);
  const { image } = await loadOperator(join(place, "windlass.config.ts"));
  const fullName = name ?? `${image.repository}:${image.tag}`;
  return await withBundle(operator, (bundle) =>
    operatorImage({ name: fullName, bundle, node: findNode(place) }),
  );
}

/** Writes what the container of such an image sees into a folder. */
export async function writeFilesOf(operator: string, folder: string): Promise<void> {
  await withBundle(operator, async (bundle) => {
    const node = findNode(join(root, "operators", operator));
    const { layers } = await operatorLayers({ bundle, node });
    await writeLayers(layers, folder);
  });
}

/** Bundles an operator for as long as something is made of it. */
async function withBundle<T>(operator: string, make: (bundle: string) => Promise<T>): Promise<T> {
  const bundle = await mkdtemp(join(tmpdir(), `${operator}-image-`));
  try {
    await bundleOperator(operator, bundle);
    return await make(bundle);
  } finally {
    await rm(bundle, { recursive: true, force: true });
  }
}

/**
 * Makes an image of an operator of this repository, and loads it where the lab's cluster, which
 * KUBECONFIG names, finds it.
 */
export async function loadIntoLab(operator: string, name?: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `${operator}-archive-`));
  try {
    const archive = join(folder, "image.tar");
    await writeFile(archive, imageArchive(await imageOf(operator, name)));
    importIntoLab(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Loads an archive of an image where the lab's cluster, which KUBECONFIG names, finds it. */
export function importIntoLab(archive: string): void {
  const socket = join(dirname(process.env.KUBECONFIG ?? ""), "containerd.sock");
  const client = ["ctr", "--address", socket, "--namespace", "k8s.io"];
  execFileSync(lab, ["exec", ...client, "images", "import", archive], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
