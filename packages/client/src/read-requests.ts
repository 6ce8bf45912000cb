import type { AnyKind } from "@windlass/kinds";
import type { Query } from "./paths.ts";
import type { CallOptions, ListOptions, RawRequest, WatchOptions } from "./verbs.ts";

/** How objects are written. */
export type Encoding = "json" | "protobuf";

const mediaTypes: { readonly [encoding in Encoding]: string } = {
  json: "application/json",
  protobuf: "application/vnd.kubernetes.protobuf",
};

/**
 * The request that reads a kind's objects.
 *
 * @param suffix of the form's name, where one is asked for
 */
export function read(
  kind: AnyKind,
  path: string,
  options: CallOptions,
  { suffix = "", encoding = "json" }: { readonly suffix?: string; readonly encoding?: Encoding } = {},
): RawRequest {
  const form =
    kind.representation === undefined ? "" : `;as=${kind.representation}${suffix};g=meta.k8s.io;v=v1`;
  return { path, headers: { accept: mediaTypes[encoding] + form }, ...signalOf(options) };
}

/** The signal of a call, for a request. */
export function signalOf(options: CallOptions): CallOptions {
  return options.signal ? { signal: options.signal } : {};
}

/** The query of a list. */
export function listQuery(options: ListOptions): Query {
  const { labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options;
  return {
    labelSelector,
    fieldSelector,
    limit,
    continue: options.continue,
    resourceVersion,
    resourceVersionMatch,
  };
}

/** The query of a watch. */
export function watchQuery(options: WatchOptions): Query {
  const { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch } = options;
  const { sendInitialEvents, allowWatchBookmarks, timeoutSeconds } = options;
  return {
    watch: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    resourceVersionMatch,
    sendInitialEvents,
    allowWatchBookmarks,
    timeoutSeconds,
  };
}
