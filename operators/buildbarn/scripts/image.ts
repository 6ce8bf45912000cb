/**
 * `node operators/buildbarn/scripts/image.ts [NAME]`: bundles the operator and makes an image of
 * it, with the pinned Node and nothing else. `WINDLASS_LAB` is the program that makes images. NAME
 * is `windlass/buildbarn:dev` if not given.
 */
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";

const operator = join(import.meta.dirname, "..");
const root = join(operator, "..", "..");
/** The program that makes images and runs the cluster they are for. */
export const lab = process.env.WINDLASS_LAB ?? join(root, "..", "shared", "lab", "lab");
/** The name of the image, unless another is given. */
export const imageName = "windlass/buildbarn:dev";

/** Bundles the operator into a folder: `main.js`, and its threads and processes beside it. */
export async function bundle(folder: string): Promise<void> {
  await build({
    input: {
      main: join(operator, "src", "main.ts"),
      "check-process-main": join(operator, "src", "check-process-main.ts"),
      "check-thread-main": join(operator, "src", "check-thread-main.ts"),
      "lease-thread": join(root, "packages", "runtime", "src", "manager", "lease-thread.ts"),
    },
    platform: "node",
    output: { dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
    logLevel: "warn",
  });
}

/** Makes the image and loads it where the lab's cluster finds it. */
export async function makeImage(name = imageName): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "buildbarn-image-"));
  try {
    await bundle(folder);
    await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
    // The operator does not run as the user who made the folder.
    await chmod(folder, 0o755);
    const node = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");
    const adding = ["--add", `${node}:/usr/bin/node`, "--add", `${folder}:/app`];
    const running = ["--user", "65532:65532", "--entrypoint", '["node","/app/main.js"]'];
    const args = ["image", name, "--debian", "libstdc++6,ca-certificates", ...adding, ...running];
    execFileSync(lab, args, { stdio: ["ignore", "ignore", "inherit"] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await makeImage(process.argv[2]);
