import { rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CommandError } from "@windlass/cli";
import { z } from "zod";

/** An allocation as the API gives it. */
export const allocationSchema = z.object({
  workerName: z.string(),
  token: z.string(),
  endpoint: z.string(),
  gatewayEndpoint: z.string(),
  externalGatewayEndpoint: z.string().optional(),
  expiresAt: z.string(),
  caCert: z.string(),
  clientCert: z.string(),
  clientKey: z.string(),
  poolName: z.string(),
  namespace: z.string(),
  cacheOptions: z.object({ import: z.array(z.string()), export: z.array(z.string()) }).optional(),
});

/** An allocation, as the API answered. */
export type AllocationAnswer = z.output<typeof allocationSchema>;

/** Several, each for a platform. */
export const nodesSchema = z.object({
  nodes: z.array(allocationSchema.extend({ platform: z.string() })),
});

const stored = z.object({
  token: z.string(),
  poolName: z.string(),
  namespace: z.string(),
  workerName: z.string(),
  address: z.string(),
  expiresAt: z.string(),
});

/** What is kept of an allocation beside its key. */
export type StoredAllocation = z.output<typeof stored>;

/** The layout that `buildctl --tlsdir` takes. */
const files = {
  ca: "ca.crt",
  certificate: "tls.crt",
  key: "tls.key",
  allocation: "allocation.json",
} as const;

/** A folder with the key and certificates of an allocation, readable by their user alone. */
export class AllocationFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  get ca(): string {
    return join(this.path, files.ca);
  }

  get certificate(): string {
    return join(this.path, files.certificate);
  }

  get key(): string {
    return join(this.path, files.key);
  }

  /**
   * Writes an allocation, each file atomically: a reader finds the old one or the new one.
   */
  async write(allocation: AllocationAnswer, address: string): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await chmod(this.path, 0o700);
    const { token, poolName, namespace, workerName, expiresAt } = allocation;
    const kept: StoredAllocation = { token, poolName, namespace, workerName, address, expiresAt };
    // The key first: a certificate without its key is of no use to anyone.
    await this.#put(files.key, decoded(allocation.clientKey));
    await this.#put(files.ca, decoded(allocation.caCert));
    await this.#put(files.certificate, decoded(allocation.clientCert));
    await this.#put(files.allocation, `${JSON.stringify(kept, null, 2)}\n`);
  }

  /** @throws CommandError if there is none. */
  async read(): Promise<StoredAllocation> {
    try {
      return stored.parse(JSON.parse(await readFile(join(this.path, files.allocation), "utf8")));
    } catch (cause) {
      throw new CommandError(
        `${this.path} has no allocation: make one with windlass-buildkit allocate --tlsdir`,
        { cause },
      );
    }
  }

  /** Removes the files of an allocation, and the folder if nothing else is in it. */
  async remove(): Promise<void> {
    for (const name of Object.values(files)) await rm(join(this.path, name), { force: true });
    const left = await readdir(this.path).catch(() => ["?"]);
    if (left.length === 0) await rm(this.path, { recursive: true, force: true });
  }

  async #put(name: string, text: string): Promise<void> {
    const path = join(this.path, name);
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, text, { mode: 0o600 });
    await rename(fresh, path);
  }
}

/** Tokens hold for a day at most: what is older is of no use. */
const LONGEST_USE_MS = 25 * 3_600_000;

/**
 * A folder for the time of one run. It goes when it is disposed of, and when the process ends in
 * any way that lets it do something. What a killed process leaves behind goes with the next run.
 */
export class TemporaryFolder implements AsyncDisposable {
  readonly folder: AllocationFolder;
  readonly #removeNow: () => void;

  private constructor(path: string) {
    this.folder = new AllocationFolder(path);
    this.#removeNow = () => rmSync(path, { recursive: true, force: true });
    process.on("exit", this.#removeNow);
  }

  static async make(env: Readonly<Record<string, string | undefined>>): Promise<TemporaryFolder> {
    const base = await baseFolder(env);
    const path = join(base, `${process.pid}-${crypto.randomUUID()}`);
    await mkdir(path, { mode: 0o700 });
    return new TemporaryFolder(path);
  }

  /**
   * What processes that were killed have left behind. Removed; what they had allocated is returned.
   */
  static async takeLeftovers(
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<readonly StoredAllocation[]> {
    const base = await baseFolder(env);
    const found: StoredAllocation[] = [];
    for (const name of await readdir(base)) {
      const path = join(base, name);
      const [, pid] = /^(\d+)-/.exec(name) ?? [];
      if (pid === undefined || (isAlive(Number(pid)) && !(await isOld(path)))) continue;
      const allocation = await new AllocationFolder(path).read().catch(() => undefined);
      if (allocation) found.push(allocation);
      await rm(path, { recursive: true, force: true });
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder.path, { recursive: true, force: true });
    process.off("exit", this.#removeNow);
  }
}

/** @throws CommandError if another user has made it. */
async function baseFolder(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const base = join(env.XDG_RUNTIME_DIR ?? env.TMPDIR ?? tmpdir(), `windlass-buildkit-${uid}`);
  await mkdir(base, { recursive: true, mode: 0o700 });
  const { uid: owner, mode } = await stat(base);
  if (owner !== uid || (mode & 0o077) !== 0)
    throw new CommandError(
      `${base} must belong to you, and be closed to others: remove it, or set XDG_RUNTIME_DIR`,
    );
  return base;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  return Date.now() - mtimeMs > LONGEST_USE_MS;
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
