import {
  boolean,
  bytes,
  type Decoded,
  integer,
  type Message,
  type Method,
  message,
  nested,
  repeated,
  text,
} from "../grpc/index.ts";
import { Platform } from "../queue/messages.ts";

// What is used of package build.bazel.remote.execution.v2.

/** `build.bazel.remote.execution.v2.Digest` */
export const Digest = message({ hash: [1, text], sizeBytes: [2, integer] });

/** What names a blob. */
export type Digest = Decoded<typeof Digest>;

/** `build.bazel.remote.execution.v2.Command` */
export const Command = message({
  arguments: [1, repeated(text)],
  outputFiles: [3, repeated(text)],
  outputPaths: [7, repeated(text)],
  platform: [5, nested(Platform)],
});

const Duration = message({ seconds: [1, integer] });

/** `build.bazel.remote.execution.v2.Action` */
export const Action = message({
  commandDigest: [1, nested(Digest)],
  inputRootDigest: [2, nested(Digest)],
  timeout: [6, nested(Duration)],
  platform: [10, nested(Platform)],
});

/** A directory with nothing in it. */
export const Directory = message({});

const Status = message({ code: [1, integer], message: [2, text] });

/** `build.bazel.remote.execution.v2.ActionResult` */
export const ActionResult = message({
  outputFiles: [2, repeated(message({ path: [1, text], digest: [2, nested(Digest)] }))],
  exitCode: [4, integer],
  stderrRaw: [7, bytes],
});

/** `build.bazel.remote.execution.v2.ExecuteResponse` */
export const ExecuteResponse = message({
  result: [1, nested(ActionResult)],
  cachedResult: [2, boolean],
  status: [3, nested(Status)],
  message: [5, text],
});

const Any = message({ typeUrl: [1, text], value: [2, bytes] });

const Operation = message({
  name: [1, text],
  done: [3, boolean],
  error: [4, nested(Status)],
  response: [5, nested(Any)],
});

function method<Q, A>(name: string, request: Message<Q>, response: Message<A>): Method<Q, A> {
  return { path: `/build.bazel.remote.execution.v2.${name}`, request, response };
}

/** `ContentAddressableStorage.BatchUpdateBlobs` */
export const batchUpdateBlobs = method(
  "ContentAddressableStorage/BatchUpdateBlobs",
  message({
    instanceName: [1, text],
    requests: [2, repeated(message({ digest: [1, nested(Digest)], data: [2, bytes] }))],
  }),
  message({
    responses: [1, repeated(message({ digest: [1, nested(Digest)], status: [2, nested(Status)] }))],
  }),
);

/** `ContentAddressableStorage.BatchReadBlobs` */
export const batchReadBlobs = method(
  "ContentAddressableStorage/BatchReadBlobs",
  message({ instanceName: [1, text], digests: [2, repeated(Digest)] }),
  message({
    responses: [
      1,
      repeated(message({ digest: [1, nested(Digest)], data: [2, bytes], status: [3, nested(Status)] })),
    ],
  }),
);

/** `Execution.Execute` */
export const execute = method(
  "Execution/Execute",
  message({ instanceName: [1, text], skipCacheLookup: [3, boolean], actionDigest: [6, nested(Digest)] }),
  Operation,
);

/** `ActionCache.GetActionResult` */
export const getActionResult = method(
  "ActionCache/GetActionResult",
  message({ instanceName: [1, text], actionDigest: [2, nested(Digest)] }),
  ActionResult,
);
