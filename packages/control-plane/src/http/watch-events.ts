import { apiVersionOf } from "@windlass/kinds";
import { type JsonObject, stringify, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import { normalize } from "../kinds/index.ts";
import type { Resource } from "../registry/resource.ts";
import type { StatusError } from "../status.ts";
import type { Representation } from "./negotiate.ts";
import type { ReadDependencies } from "./read.ts";
import { objectText, type ProtobufForm, partialMetadata } from "./representation.ts";
import type { Bookmark, Bytes, WatchEvent } from "./shared-events.ts";
import { eventBytes } from "./shared-events.ts";

/**
 * Encodes events in the representation that one watcher asked for. Tables and conversions are
 * asynchronous.
 */
export class EventWriter {
  readonly #deps: ReadDependencies;
  readonly #resource: Resource;
  readonly #as: Representation;
  /** Present where events go out as protobuf. */
  readonly #protobuf: ProtobufForm | undefined;
  #firstTable = true;

  constructor(
    deps: ReadDependencies,
    resource: Resource,
    as: Representation,
    protobuf: ProtobufForm | undefined,
  ) {
    this.#deps = deps;
    this.#resource = resource;
    this.#as = as;
    this.#protobuf = protobuf;
  }

  write(event: WatchEvent): Bytes | Promise<Bytes> {
    const isPlain = this.#as.as === "object" && !this.#resource.conversion;
    if (event.type === "BOOKMARK") {
      const object = this.#bookmarked(event);
      return isPlain ? this.#plain("BOOKMARK", object) : this.#shaped("BOOKMARK", object);
    }
    const { type, entry } = event;
    if (isPlain) return this.#deps.events.bytes(this.#resource, type, entry, this.#protobuf);
    return this.#deps.registry
      .fromStorage(this.#resource, entry.object)
      .then((object) => this.#shaped(type, object));
  }

  failure(error: StatusError): Bytes {
    const status = error.toStatus();
    return this.#protobuf
      ? this.#protobuf.frame("ERROR", this.#protobuf.plain(status))
      : eventBytes("ERROR", JSON.stringify(status));
  }

  #plain(type: WatchEvent["type"], object: JsonObject): Bytes {
    return this.#protobuf
      ? this.#protobuf.frame(type, this.#protobuf.object(this.#resource, object))
      : eventBytes(type, objectText(this.#resource, object));
  }

  async #shaped(type: WatchEvent["type"], object: JsonObject): Promise<Bytes> {
    if (this.#as.as === "object") return this.#plain(type, object);
    if (this.#as.as === "metadata") {
      return this.#protobuf
        ? this.#protobuf.frame(type, this.#protobuf.metadata(object))
        : eventBytes(type, stringify(partialMetadata(object)));
    }
    const listMetadata = { resourceVersion: textOf(metadataOf(object).resourceVersion) };
    const columns = this.#firstTable ? "all" : "none";
    const options = {
      listMetadata,
      includeObject: "Metadata",
      version: this.#as.version,
      columns,
    } as const;
    this.#firstTable = false;
    return eventBytes(type, stringify(await this.#deps.table(this.#resource, [object], options)));
  }

  #bookmarked({ revision, initialEnd }: Bookmark): JsonObject {
    const { info } = this.#resource;
    const metadata: JsonObject = { resourceVersion: textOf(revision) };
    if (initialEnd) metadata.annotations = { "k8s.io/initial-events-end": "true" };
    const empty: JsonObject = {
      kind: info.kind,
      apiVersion: apiVersionOf(info),
      metadata,
    };
    const object = info.origin === "builtin" ? normalize(info, empty) : empty;
    // The real server's internal types cannot omit the replicas of these.
    if (info.group === "apps" && this.#resource.scale) {
      object.spec = { replicas: 0, ...(object.spec as JsonObject) };
    }
    return object;
  }
}
