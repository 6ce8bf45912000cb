import type { Schema } from "../schema/schema.ts";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A subresource, such as `status` or `scale`, with the kind its bodies have. */
export interface SubresourceInfo {
  readonly name: string;
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** A column of a custom kind's table, as its definition declares it. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/**
 * All the server must know of a kind to route, describe and check it. The same for built-in kinds
 * and custom ones.
 */
export interface KindInfo extends GroupVersionKind {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** What is served, in the order discovery lists it. */
  readonly verbs: readonly string[];
  /**
   * What discovery lists where it does not list all: a kind that is about to go takes no more
   * objects.
   */
  readonly listedVerbs?: readonly string[];
  readonly storageVersionHash?: string;
  readonly subresources: readonly SubresourceInfo[];
  /** What the list kind is called. `KindList`, unless a custom definition says otherwise. */
  readonly listKind: string;
  /** Whether the kind comes with the server or was defined at run time. */
  readonly origin: "builtin" | "custom";
  /** A custom kind's columns. Without any it shows its name and age. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Fields of a custom kind that can be selected by, such as `spec.color`. @default none */
  readonly selectableFields?: readonly string[];
  /** The schema, built on first use and shared since. Not to be changed. */
  schema(): Schema;
}

export interface GroupInfo {
  readonly name: string;
  /** The preferred version is the first. */
  readonly versions: readonly string[];
}

/** Where a group stands among the others, and a version among its group's; higher comes first. */
interface KindEntry {
  readonly group: number;
  readonly versions: ReadonlyMap<string, number>;
}

const customGroupPriority = 1_000;
const customVersionPriority = 100;

/**
 * Every kind a server serves, found by path or by kind. Starts with the built-in ones; definitions
 * come and go at run time.
 *
 * `revision` grows with each change, so that documents made from the table can be kept until then.
 */
export class KindTable {
  #revision = 0;
  readonly #standing: ReadonlyMap<string, KindEntry>;
  readonly #groups = new Map<string, Map<string, Map<string, KindInfo>>>();
  readonly #kinds = new Map<string, KindInfo>();
  #sorted: readonly GroupInfo[] | undefined;

  /** @param standing the priorities of the groups that come with the server. */
  constructor(standing: ReadonlyMap<string, KindEntry> = new Map()) {
    this.#standing = standing;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Adds a kind, or replaces the one at the same group, version and plural. */
  add(kind: KindInfo): void {
    this.#drop(kind.group, kind.version, kind.plural);
    const versions = this.#groups.get(kind.group) ?? new Map<string, Map<string, KindInfo>>();
    const plurals = versions.get(kind.version) ?? new Map<string, KindInfo>();
    this.#groups.set(kind.group, versions.set(kind.version, plurals.set(kind.plural, kind)));
    this.#kinds.set(kindKey(kind.group, kind.version, kind.kind), kind);
    this.#changed();
  }

  /** Takes a kind out again. Does nothing where there is none. */
  remove({ group, version, plural }: Pick<KindInfo, "group" | "version" | "plural">): void {
    if (this.#drop(group, version, plural)) this.#changed();
  }

  /** The kind behind a path such as `/apis/apps/v1/deployments`. */
  byResource(group: string, version: string, plural: string): KindInfo | undefined {
    return this.#groups.get(group)?.get(version)?.get(plural);
  }

  byKind(group: string, version: string, kind: string): KindInfo | undefined {
    return this.#kinds.get(kindKey(group, version, kind));
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#groups.get(group)?.has(version) ?? false;
  }

  /** The kinds of a group version, by plural. */
  kinds(group: string, version: string): readonly KindInfo[] {
    const plurals = this.#groups.get(group)?.get(version);
    if (!plurals) return [];
    return [...plurals.values()].sort((a, b) => (a.plural < b.plural ? -1 : 1));
  }

  /** All kinds of all versions, in no promised order. */
  all(): Iterable<KindInfo> {
    return this.#kinds.values();
  }

  group(name: string): GroupInfo | undefined {
    return this.groups().find((group) => group.name === name);
  }

  /** The groups as discovery orders them, the core group (named "") first. */
  groups(): readonly GroupInfo[] {
    this.#sorted ??= [...this.#groups]
      .map(([name, versions]) => ({ name, versions: this.#sortVersions(name, [...versions.keys()]) }))
      .sort((a, b) => {
        if (a.name === "" || b.name === "") return a.name === "" ? -1 : 1;
        return this.#groupPriority(b.name) - this.#groupPriority(a.name) || (a.name < b.name ? -1 : 1);
      });
    return this.#sorted;
  }

  /** What an APIService for the group version carries as its priorities. */
  priority(group: string, version: string): { readonly group: number; readonly version: number } {
    return { group: this.#groupPriority(group), version: this.#versionPriority(group, version) };
  }

  #drop(group: string, version: string, plural: string): boolean {
    const versions = this.#groups.get(group);
    const plurals = versions?.get(version);
    const known = plurals?.get(plural);
    if (!versions || !plurals || !known) return false;
    plurals.delete(plural);
    if (plurals.size === 0) versions.delete(version);
    if (versions.size === 0) this.#groups.delete(group);
    const key = kindKey(group, version, known.kind);
    if (this.#kinds.get(key) === known) this.#kinds.delete(key);
    return true;
  }

  #changed(): void {
    this.#revision++;
    this.#sorted = undefined;
  }

  #groupPriority(name: string): number {
    return this.#standing.get(name)?.group ?? customGroupPriority;
  }

  #versionPriority(group: string, version: string): number {
    return this.#standing.get(group)?.versions.get(version) ?? customVersionPriority;
  }

  #sortVersions(group: string, versions: string[]): string[] {
    return versions.sort(
      (a, b) => this.#versionPriority(group, b) - this.#versionPriority(group, a) || compareVersions(b, a),
    );
  }
}

function kindKey(group: string, version: string, kind: string): string {
  return `${group}/${version}/${kind}`;
}

/**
 * Orders versions as Kubernetes does: `v10` above `v2` above `v1beta2` above `v1alpha1` above what
 * is not such a version. Positive where `a` ranks higher; suits `sort` for ascending order.
 */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [rankOf(a), rankOf(b)];
  if (!left || !right) {
    if (left) return 1;
    if (right) return -1;
    return a < b ? 1 : -1;
  }
  return left.stability - right.stability || left.major - right.major || left.minor - right.minor;
}

function rankOf(version: string): { stability: number; major: number; minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (!match) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return { stability, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
