/**
 * `npm run release -- major|minor|patch|VERSION`: makes a release. All packages get the version,
 * the changelog says what is in it, and `dist/` has their tarballs with a bill of materials and
 * checksums. Nothing is published: the last lines say how.
 *
 * With `--dry-run` it says which version that would be, and what is new in it, and changes nothing.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { billOfMaterials, type Lock } from "./packaging/bill-of-materials.ts";
import { buildPackages } from "./packaging/build.ts";
import {
  changesIn,
  lockWithVersion,
  nextVersion,
  releasedChangelog,
  withVersion,
} from "./packaging/next-release.ts";
import { root, sourcePackages } from "./packaging/source-packages.ts";
import { packTarballs } from "./packaging/tarballs.ts";

const usage = "usage: npm run release -- major|minor|patch|VERSION [--dry-run]\n";
const read = (file: string) => readFile(join(root, file), "utf8");
const { version: current } = JSON.parse(await read("package.json")) as { readonly version: string };
const { flags, version } = commandLine();
const changelog = await read("CHANGELOG.md");
const released = releasedText();
process.stdout.write(`${current} → ${version}\n\n${changesIn(changelog)}\n\n`);
if (!flags["dry-run"]) {
  refuseChanges();
  await writeVersion();
  await writeFile(join(root, "CHANGELOG.md"), released);
  await makeTarballs();
  process.stdout.write(`
Next:
  git commit --all --message "Release ${version}" && git tag v${version} && git push --follow-tags
  npm run publish-packages -- --provenance        # the release workflow does, when the tag is pushed
`);
}

/** Ends with 2 where it is not as the usage says. */
function commandLine() {
  try {
    const options = { "dry-run": { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [first, ...more] = positionals;
    if (first !== undefined && more.length === 0)
      return { flags: values, version: nextVersion(current, first) };
    process.stderr.write(usage);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
  process.exit(2);
}

/** The changelog with the release in it. Ends with 1 where there is nothing to release. */
function releasedText(): string {
  try {
    return releasedChangelog(changelog, version, new Date().toISOString().slice(0, 10));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** A release is of what was committed. */
function refuseChanges(): void {
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trim();
  if (changed === "") return;
  process.stderr.write(`these are not committed:\n${changed}\n`);
  process.exit(1);
}

async function writeVersion(): Promise<void> {
  const files = await Array.fromAsync(
    glob(["package.json", "{packages,operators}/*/package.json", "benchmarks/package.json"], { cwd: root }),
  );
  const texts = await Promise.all(files.map(read));
  const ours = new Set(texts.map((text) => (JSON.parse(text) as { readonly name: string }).name));
  for (const [index, file] of files.entries())
    await writeFile(join(root, file), withVersion(texts[index] ?? "", ours, version));
  await writeFile(
    join(root, "package-lock.json"),
    lockWithVersion(await read("package-lock.json"), ours, version),
  );
  execFileSync("biome", ["format", "--write", ...files], { cwd: root, stdio: "ignore" });
}

async function makeTarballs(): Promise<void> {
  const dist = join(root, "dist");
  const packages = await sourcePackages();
  await buildPackages(packages);
  const tarballs = await packTarballs(packages, dist);
  const bill = billOfMaterials(JSON.parse(await read("package-lock.json")) as Lock, version);
  await writeFile(join(dist, "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
  const files = [...tarballs.map(({ file }) => file), join(dist, "sbom.cdx.json")];
  const lines = await Promise.all(
    files.map(async (file) => {
      const sum = createHash("sha256")
        .update(await readFile(file))
        .digest("hex");
      return `${sum}  ${basename(file)}\n`;
    }),
  );
  await writeFile(join(dist, "SHA256SUMS"), lines.join(""));
  for (const file of files) process.stdout.write(`dist/${basename(file)}\n`);
}
