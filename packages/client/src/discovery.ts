import type { Clock } from "@windlass/clock";
import { isRecord } from "@windlass/kinds/json";
import { ApiError, isNotFound } from "./errors.ts";

/** A resource that the server serves. It is also a kind that the client's verbs take. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ServedSubresource[];
}

/** A subresource of a served resource. */
export interface ServedSubresource {
  /** E.g. `status`, `scale`. */
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Gets a path of the server as parsed JSON, with the given `Accept` header. */
export type DiscoveryFetch = (path: string, accept: string) => Promise<unknown>;

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const LEGACY = "application/json";

/**
 * A miss asks the server again, but not more often than this: a kind that never comes must not
 * become a load.
 */
const REFETCH_INTERVAL_MS = 2_000;

/**
 * What the server serves, fetched once and kept. A question that the kept answer does not know asks
 * the server again (at most every two seconds), so that a CRD installed meanwhile is found.
 * Concurrent questions share one fetch.
 */
export class Discovery {
  readonly #fetch: DiscoveryFetch;
  readonly #clock: Clock;
  #known: Promise<readonly ServedResource[]> | undefined;
  #fetchedAt = 0;

  constructor(fetch: DiscoveryFetch, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Everything served, most preferred versions of a group first, as the server orders them. */
  resources(): Promise<readonly ServedResource[]> {
    if (this.#known) return this.#known;
    this.#fetchedAt = this.#clock.monotonic();
    const fetching = this.#fetchAll();
    this.#known = fetching;
    fetching.catch(() => {
      if (this.#known === fetching) this.#known = undefined;
    });
    return fetching;
  }

  /**
   * The resource of a kind, in the given or else the preferred version; undefined if the server has
   * none.
   */
  find(group: string, kind: string, version?: string): Promise<ServedResource | undefined> {
    return this.#find(
      (it) => it.group === group && it.kind === kind && (version ?? it.version) === it.version,
    );
  }

  /** The same, by the plural name. */
  findResource(group: string, plural: string, version?: string): Promise<ServedResource | undefined> {
    return this.#find(
      (it) => it.group === group && it.plural === plural && (version ?? it.version) === it.version,
    );
  }

  /** Forgets what was fetched: the next question asks the server. */
  invalidate(): void {
    this.#known = undefined;
  }

  async #find(matches: (resource: ServedResource) => boolean): Promise<ServedResource | undefined> {
    const asked = this.#known;
    const found = (await this.resources()).find(matches);
    if (found || !asked) return found;
    // Another who missed something may have asked the server again meanwhile.
    if (this.#known === asked) {
      if (this.#clock.monotonic() - this.#fetchedAt < REFETCH_INTERVAL_MS) return undefined;
      this.invalidate();
    }
    return (await this.resources()).find(matches);
  }

  async #fetchAll(): Promise<readonly ServedResource[]> {
    const [core, groups] = await Promise.all([this.#fetchRoot("/api"), this.#fetchRoot("/apis")]);
    return [...core, ...groups];
  }

  async #fetchRoot(root: "/api" | "/apis"): Promise<readonly ServedResource[]> {
    const document = await this.#fetch(root, AGGREGATED).catch((error: unknown) => {
      if (isNotFound(error)) return {};
      throw error;
    });
    if (!isRecord(document)) return [];
    if (document.kind === "APIGroupDiscoveryList") return aggregated(document);
    if (root === "/api") {
      const versions = strings(document.versions);
      return (await Promise.all(versions.map((version) => this.#fetchVersion("", version)))).flat();
    }
    const pairs = records(document.groups).flatMap((group) =>
      preferredFirst(group).map((version) => [text(group.name), version] as const),
    );
    return (await Promise.all(pairs.map(([group, version]) => this.#fetchVersion(group, version)))).flat();
  }

  /**
   * One broken aggregated API must not hide all others, so a group that answers with an error
   * counts as empty.
   */
  async #fetchVersion(group: string, version: string): Promise<readonly ServedResource[]> {
    const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    try {
      return legacy(group, version, await this.#fetch(path, LEGACY));
    } catch (error) {
      if (error instanceof ApiError) return [];
      throw error;
    }
  }
}

function aggregated(document: Record<string, unknown>): ServedResource[] {
  const found: ServedResource[] = [];
  for (const group of records(document.items)) {
    const metadata = isRecord(group.metadata) ? group.metadata : {};
    for (const version of records(group.versions)) {
      for (const resource of records(version.resources)) {
        const responseKind = isRecord(resource.responseKind) ? resource.responseKind : {};
        found.push({
          group: text(metadata.name),
          version: text(version.version),
          kind: text(responseKind.kind),
          plural: text(resource.resource),
          singular: text(resource.singularResource),
          scope: resource.scope === "Namespaced" ? "Namespaced" : "Cluster",
          verbs: strings(resource.verbs),
          shortNames: strings(resource.shortNames),
          categories: strings(resource.categories),
          subresources: records(resource.subresources).map((sub) => ({
            name: text(sub.subresource),
            verbs: strings(sub.verbs),
          })),
        });
      }
    }
  }
  return found;
}

function legacy(group: string, version: string, document: unknown): ServedResource[] {
  const rows = isRecord(document) ? records(document.resources) : [];
  const subresources = Map.groupBy(
    rows.filter((row) => text(row.name).includes("/")),
    (row) => text(row.name).split("/")[0] ?? "",
  );
  return rows
    .filter((row) => !text(row.name).includes("/"))
    .map((row) => ({
      group,
      version,
      kind: text(row.kind),
      plural: text(row.name),
      singular: text(row.singularName),
      scope: row.namespaced === true ? ("Namespaced" as const) : ("Cluster" as const),
      verbs: strings(row.verbs),
      shortNames: strings(row.shortNames),
      categories: strings(row.categories),
      subresources: (subresources.get(text(row.name)) ?? []).map((sub) => ({
        name: text(sub.name).slice(text(row.name).length + 1),
        verbs: strings(sub.verbs),
      })),
    }));
}

function preferredFirst(group: Record<string, unknown>): string[] {
  const preferred = isRecord(group.preferredVersion) ? text(group.preferredVersion.version) : "";
  const versions = records(group.versions).map((version) => text(version.version));
  return [...new Set(preferred === "" ? versions : [preferred, ...versions])];
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((it) => typeof it === "string") : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
