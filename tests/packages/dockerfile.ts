import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** An image that a Dockerfile made. */
export interface Built {
  /** The bytes of its layers, unpacked. */
  readonly unpackedBytes: number;
  readonly config: {
    readonly User?: string;
    readonly WorkingDir?: string;
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
  };
  /** The digest of each layer's content. */
  readonly layers: readonly string[];
  /** Its file system. It goes with the builder. */
  readonly root: string;
}

/** A BuildKit of this machine. It takes buildkitd, buildctl and runc, and root. */
export interface Builder extends AsyncDisposable {
  /**
   * Builds a Dockerfile with a folder as its context. Its containers have the network of this
   * machine.
   *
   * @param file its path in the folder @default "Dockerfile"
   */
  build(folder: string, file?: string): Promise<Built>;
}

/**
 * Starts BuildKit with a stand-in for the base image, which cannot be pulled everywhere: Node and
 * npm of this machine, a shell, and the libraries that they need.
 */
export async function startBuilder(base: string): Promise<Builder> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), "windlass-dockerfile-"));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const address = `unix://${join(home, "sock")}`;
  const daemon = spawn(
    "buildkitd",
    [
      "--root",
      join(home, "root"),
      "--addr",
      address,
      "--oci-worker-snapshotter=native",
      "--oci-worker-net=host",
    ],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  stack.defer(async () => {
    daemon.kill("SIGTERM");
    await once(daemon, "exit");
  });
  const buildctl = (...args: readonly string[]) =>
    run("buildctl", ["--addr", address, ...args], { maxBuffer: 64 * 2 ** 20 });
  for (let tries = 0; ; tries++) {
    const answer = await buildctl("debug", "workers").catch((error: unknown) => error as Error);
    if (!(answer instanceof Error)) break;
    if (tries > 50) throw answer;
    await delay(200);
  }
  const make = async (context: string, output: string, ...more: readonly string[]) => {
    const places = [`context=${context}`, `dockerfile=${context}`].flatMap((one) => ["--local", one]);
    const to = `type=oci,dest=${output},tar=false`;
    await buildctl("build", "--frontend", "dockerfile.v0", ...places, "--output", to, ...more);
    return await readLayout(output);
  };
  // Where packages come from may be known by a certificate that this machine alone trusts.
  const trusts = process.env.NODE_EXTRA_CA_CERTS;
  const standIn = join(home, "stand-in");
  await writeStandIn(join(standIn, "rootfs"));
  await writeFile(
    join(standIn, "Dockerfile"),
    `FROM scratch\nCOPY rootfs/ /\nENV PATH=/usr/local/bin:/usr/bin:/bin${trusts === undefined ? "" : ` NODE_EXTRA_CA_CERTS=${trusts}`}\n`,
  );
  if (trusts !== undefined) await cp(trusts, join(standIn, "rootfs", trusts), { dereference: true });
  const layout = join(home, "base");
  const { digest } = await make(standIn, layout);
  const kept = stack.move();
  let count = 0;
  return {
    build: async (folder, file = "Dockerfile") => {
      const place = join(home, `built-${count++}`);
      const context = `context:${base}=oci-layout://base@${digest}`;
      const options = ["--oci-layout", `base=${layout}`, "--opt", context, "--opt", `filename=${file}`];
      const built = await make(folder, place, ...options);
      return await unpacked(place, built);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

const blob = (layout: string, digest: string) => join(layout, "blobs", digest.replace(":", "/"));
const json = async <T>(file: string) => JSON.parse(await readFile(file, "utf8")) as T;

async function readLayout(layout: string) {
  const index = await json<{ readonly manifests: readonly { readonly digest: string }[] }>(
    join(layout, "index.json"),
  );
  const digest = index.manifests[0]?.digest ?? "";
  return { digest, manifest: await json<Manifest>(blob(layout, digest)) };
}

async function unpacked(layout: string, { manifest }: { readonly manifest: Manifest }): Promise<Built> {
  const root = `${layout}-root`;
  await mkdir(root);
  for (const { digest } of manifest.layers) await run("tar", ["-xzf", blob(layout, digest), "-C", root]);
  const { config, rootfs } = await json<{
    readonly config: Built["config"];
    readonly rootfs: { readonly diff_ids: readonly string[] };
  }>(blob(layout, manifest.config.digest));
  const { stdout } = await run("du", ["--bytes", "--summarize", root]);
  return { unpackedBytes: Number.parseInt(stdout, 10), config, layers: rootfs.diff_ids, root };
}

/** What else belongs to the C library, for what packages bring. */
const cLibrary = [
  "nss_dns.so.2",
  "nss_files.so.2",
  "resolv.so.2",
  "rt.so.1",
  "pthread.so.0",
  "dl.so.2",
  "m.so.6",
].map((name) => `lib${name}`);

/** Node, npm, a shell and `env`, with the libraries that they need from this machine. */
async function writeStandIn(root: string): Promise<void> {
  for (const folder of [
    "etc",
    "root",
    "tmp",
    "usr/bin",
    "usr/lib",
    "usr/lib64",
    "usr/local/bin",
    "usr/local/lib",
  ])
    await mkdir(join(root, folder), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) await symlink(`usr/${name}`, join(root, name));
  await writeFile(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  const npm = join(
    dirname((await run("readlink", ["-f", (await run("which", ["npm"])).stdout.trim()])).stdout),
    "..",
  );
  await cp(npm, join(root, "usr/local/lib/npm"), { recursive: true, dereference: true });
  for (const name of ["npm", "npx"])
    await symlink(`../lib/npm/bin/${name}-cli.js`, join(root, "usr/local/bin", name));
  const programs = [
    ["/bin/sh", "usr/bin/sh"],
    ["/usr/bin/env", "usr/bin/env"],
    [process.execPath, "usr/local/bin/node"],
  ] as const;
  for (const [from, to] of programs) {
    await cp(from, join(root, to), { dereference: true });
    const { stdout } = await run("ldd", [from]);
    for (const [, library = ""] of stdout.matchAll(/(\/\S+)/g))
      await cp(library, join(root, library), { dereference: true });
  }
  for (const folder of await readdir(join(root, "usr/lib")))
    for (const name of cLibrary)
      await cp(join("/usr/lib", folder, name), join(root, "usr/lib", folder, name), {
        dereference: true,
      }).catch(() => undefined);
}
