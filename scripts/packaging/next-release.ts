/** How much a release changes: what breaks, what is new, what is fixed. */
export type Step = "major" | "minor" | "patch";

/**
 * The version after another: by a step, or as it is given. @throws TypeError when it is neither, or
 * not above the other
 */
export function nextVersion(current: string, wanted: string): string {
  const next = isStep(wanted) ? stepped(current, wanted) : wanted;
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(next))
    throw new TypeError(
      `${JSON.stringify(wanted)} is neither major, minor or patch, nor a version such as 1.2.3`,
    );
  if (compareVersions(next, current) <= 0) throw new TypeError(`${next} is not above ${current}`);
  return next;
}

function isStep(wanted: string): wanted is Step {
  return wanted === "major" || wanted === "minor" || wanted === "patch";
}

function stepped(current: string, step: Step): string {
  const [major = 0, minor = 0, patch = 0] = numbersOf(current);
  if (step === "major") return `${major + 1}.0.0`;
  if (step === "minor") return `${major}.${minor + 1}.0`;
  // What comes after a pre-release is what it was a pre-release of.
  return current.includes("-") ? `${major}.${minor}.${patch}` : `${major}.${minor}.${patch + 1}`;
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const different = left.findIndex((number, index) => number !== right[index]);
  if (different >= 0) return (left[different] ?? 0) - (right[different] ?? 0);
  const [before, after] = [a.split("-")[1], b.split("-")[1]];
  if (before === after) return 0;
  if (before === undefined) return 1;
  if (after === undefined) return -1;
  return before.localeCompare(after, "en", { numeric: true });
}

function numbersOf(version: string): readonly number[] {
  return (version.split("-")[0] ?? "").split(".").map(Number);
}

/** A manifest in which this repository's packages have another version, its own among them. */
export function withVersion(text: string, ours: ReadonlySet<string>, version: string): string {
  const manifest = JSON.parse(text) as Record<string, unknown>;
  return `${JSON.stringify(bumped(manifest, ours, version), null, 2)}\n`;
}

/** A lock file in which this repository's packages have another version. */
export function lockWithVersion(text: string, ours: ReadonlySet<string>, version: string): string {
  const lock = JSON.parse(text) as { version?: string; packages: Record<string, Record<string, unknown>> };
  const packages = Object.entries(lock.packages).map(([path, entry]): [string, unknown] => [
    path,
    path.includes("node_modules/") ? entry : bumped(entry, ours, version),
  ]);
  return `${JSON.stringify({ ...lock, version, packages: Object.fromEntries(packages) }, null, 2)}\n`;
}

function bumped(
  manifest: Readonly<Record<string, unknown>>,
  ours: ReadonlySet<string>,
  version: string,
): Record<string, unknown> {
  const fields = Object.entries(manifest).map(([field, value]): [string, unknown] => {
    if (field === "version") return [field, version];
    if (!/^(?:dependencies|devDependencies|peerDependencies)$/.test(field)) return [field, value];
    const dependencies = Object.entries(value as Record<string, string>);
    return [
      field,
      Object.fromEntries(dependencies.map(([name, was]) => [name, ours.has(name) ? version : was])),
    ];
  });
  return Object.fromEntries(fields);
}

const unreleased = "## Unreleased\n";

/**
 * The changelog in which what was unreleased is this version's, and nothing is unreleased.
 *
 * @throws TypeError when there is nothing to release
 */
export function releasedChangelog(text: string, version: string, date: string): string {
  if (changesIn(text) === "")
    throw new TypeError("CHANGELOG.md has nothing under Unreleased: say what changed");
  return text.replace(unreleased, `${unreleased}\n## ${version} (${date})\n`);
}

/** What the changelog says is not released yet. */
export function changesIn(text: string): string {
  const start = text.indexOf(unreleased);
  if (start < 0) return "";
  const rest = text.slice(start + unreleased.length);
  const end = rest.search(/^## /m);
  return (end < 0 ? rest : rest.slice(0, end)).trim();
}
