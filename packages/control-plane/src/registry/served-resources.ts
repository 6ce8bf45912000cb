import type { KindInfo, KindTable } from "../kinds/index.ts";
import type { Resource } from "./resource.ts";

/** The resources of all kinds that are served, each made when it is first asked for. */
export class ServedResources {
  readonly #kinds: KindTable;
  readonly #make: (info: KindInfo) => Resource;
  readonly #made = new WeakMap<KindInfo, Resource>();
  #byBucket: { readonly revision: number; readonly resources: ReadonlyMap<string, Resource> } | undefined;

  constructor(kinds: KindTable, make: (info: KindInfo) => Resource) {
    this.#kinds = kinds;
    this.#make = make;
  }

  /** The resource at a path, if it is served. */
  at(group: string, version: string, plural: string): Resource | undefined {
    const info = this.#kinds.byResource(group, version, plural);
    return info && this.of(info);
  }

  of(info: KindInfo): Resource {
    let resource = this.#made.get(info);
    if (!resource) {
      resource = this.#make(info);
      this.#made.set(info, resource);
    }
    return resource;
  }

  /** A served version of what a bucket holds. */
  ofBucket(bucket: string): Resource | undefined {
    const { revision } = this.#kinds;
    if (this.#byBucket?.revision !== revision) {
      const resources = new Map<string, Resource>();
      for (const info of this.#kinds.all()) {
        const resource = this.of(info);
        if (!resources.has(resource.bucket)) resources.set(resource.bucket, resource);
      }
      this.#byBucket = { revision, resources };
    }
    return this.#byBucket.resources.get(bucket);
  }
}
