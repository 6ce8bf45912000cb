/**
 * Completes package-lock.json after `npm install`: a registry that does not carry every platform's
 * build of an optional package makes npm leave the others out, and `npm ci` then refuses the file.
 * Each is entered with its version and platform, without a checksum: on its own platform npm
 * fetches it by version, elsewhere it is passed over.
 *
 * Usage: node scripts/complete-lock.ts
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface LockedPackage {
  version?: string;
  optionalDependencies?: Record<string, string>;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  engines?: Record<string, string>;
  integrity?: string;
}

const file = join(import.meta.dirname, "..", "package-lock.json");
const lock = JSON.parse(await readFile(file, "utf8")) as { packages: Record<string, LockedPackage> };

const systems = ["android", "darwin", "freebsd", "linux", "win32", "openharmony"];
const processors: readonly [pattern: RegExp, cpu: string][] = [
  [/arm64/, "arm64"],
  [/arm-/, "arm"],
  [/ia32/, "ia32"],
  [/ppc64/, "ppc64"],
  [/riscv64/, "riscv64"],
  [/s390x/, "s390x"],
  [/loong64/, "loong64"],
  [/mips64el/, "mips64el"],
  [/x64/, "x64"],
  [/wasm32/, "wasm32"],
];

let added = 0;
for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path] || !/^\d+\.\d+\.\d+/.test(version)) continue;
    const build = name.slice(name.indexOf("/") + 1);
    const os = systems.find((system) => build.includes(system));
    const cpu = processors.find(([pattern]) => pattern.test(build))?.[1];
    if (!cpu) continue;
    lock.packages[path] = {
      version,
      cpu: [cpu],
      ...(owner.dev ? { dev: true } : {}),
      ...(build.includes("musl") ? { libc: ["musl"] } : {}),
      optional: true,
      ...(os ? { os: [os] } : {}),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} packages of other platforms entered\n`);
