import { createHash } from "node:crypto";

/** What a bill of materials reads of package-lock.json. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * A CycloneDX document: what our packages consist of when they run, down to the last dependency.
 */
export interface BillOfMaterials {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly "bom-ref": string;
  readonly type: "library" | "application";
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly (
    | { readonly license: { readonly id: string } }
    | { readonly expression: string }
  )[];
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
}

/**
 * The bill of materials of the packages under `packages/`, from the lock file. The same lock gives
 * the same bytes.
 *
 * @throws Error when the lock does not have a dependency: `npm install` completes it
 */
export function billOfMaterials(lock: Lock, version: string): BillOfMaterials {
  const component: Component = {
    "bom-ref": `pkg:npm/windlass@${version}`,
    type: "application",
    name: "windlass",
    version,
    purl: `pkg:npm/windlass@${version}`,
    licenses: [{ license: { id: "Apache-2.0" } }],
  };
  const roots = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path));
  const found = new Map<string, readonly string[]>();
  const pending = [...roots];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (found.has(path)) continue;
    const needed = dependenciesOf(lock, path);
    found.set(path, needed);
    pending.push(...needed);
  }
  const components = [...found.keys()].map((path) => componentOf(lock, path)).toSorted(byReference);
  const reference = (path: string) => componentOf(lock, path)["bom-ref"];
  const dependencies = [...found]
    .map(([path, needed]) => ({ ref: reference(path), dependsOn: needed.map(reference).toSorted() }))
    .toSorted((a, b) => compare(a.ref, b.ref));
  const content = { components, dependencies };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialNumberOf(JSON.stringify(content)),
    version: 1,
    metadata: { component },
    components,
    dependencies: [
      { ref: component["bom-ref"], dependsOn: roots.map(reference).toSorted() },
      ...dependencies,
    ],
  };
}

/** Where the lock has what a package needs when it runs. */
function dependenciesOf(lock: Lock, path: string): readonly string[] {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = lock.packages[path] ?? {};
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...new Set([...Object.keys(dependencies), ...peers])].map((name) => find(lock, path, name));
}

/** Finds a dependency as Node does: beside the package, or above it. */
function find(lock: Lock, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const locked = lock.packages[path];
    if (locked?.link === true) return workspaceOf(lock, name);
    if (locked !== undefined) return path;
    if (folder === "") throw new Error(`package-lock.json does not have ${name}, which ${from} needs`);
  }
}

function workspaceOf(lock: Lock, name: string): string {
  const path = Object.keys(lock.packages).find((one) => lock.packages[one]?.name === name && one !== "");
  // A workspace whose folder is named like the package has no name of its own in the lock.
  return path ?? `packages/${name.slice(name.lastIndexOf("/") + 1)}`;
}

function componentOf(lock: Lock, path: string): Component {
  const { name = nameAt(path), version = "", license, integrity } = lock.packages[path] ?? {};
  const [group, base] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    "bom-ref": purl,
    type: "library",
    ...(group === undefined ? {} : { group }),
    name: base ?? name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: [licenseOf(license)] }),
    ...(integrity === undefined ? {} : { hashes: [{ alg: "SHA-512", content: hashOf(integrity) }] }),
  };
}

/**
 * The name of a package by its place: the lock says it only where it is another than that of its
 * folder.
 */
function nameAt(path: string): string {
  const [, name] = /(?:^|\/)(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
  return name ?? path;
}

function licenseOf(license: string): NonNullable<Component["licenses"]>[number] {
  return /[ ()]/.test(license) ? { expression: license } : { license: { id: license } };
}

function hashOf(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
}

/** A UUID that is made of the content. */
function serialNumberOf(content: string): string {
  const hex = createHash("sha256").update(content).digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return `urn:uuid:${parts.join("-")}-${hex.slice(20, 32)}`;
}

function byReference(a: Component, b: Component): number {
  return compare(a["bom-ref"], b["bom-ref"]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
