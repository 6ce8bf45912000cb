import { createHash } from "node:crypto";
import type { Clock } from "@windlass/clock";
import { type ConnectionOptions, GrpcConnection, GrpcError, grpcCodes } from "../grpc/index.ts";
import {
  Action,
  batchReadBlobs,
  batchUpdateBlobs,
  Command,
  type Digest,
  Directory,
  ExecuteResponse,
  execute,
  getActionResult,
} from "./messages.ts";

/** An action to try a set with. */
export interface SmokeAction {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly instanceName: string;
  /** In Buildbarn's order. */
  readonly platform: readonly { readonly name: string; readonly value: string }[];
  /** Told apart from all others by it, so that it really runs. */
  readonly nonce: string;
  /** After how many seconds its worker gives up. */
  readonly timeoutSeconds: number;
  /** @default without TLS and without a token */
  readonly connection?: ConnectionOptions;
}

/** How a try went. */
export interface SmokeResult {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** Whether the action's result was found again after it ran. */
  readonly cacheHit: boolean;
  /** What went wrong, in words. */
  readonly message: string;
}

const outputName = "out.txt";

/**
 * Runs an action through a frontend as Bazel would: uploads it, has it executed, reads what it
 * made, and looks it up in the cache. Never throws for a set that does not work: that is a result
 * too.
 *
 * @throws the signal's reason.
 */
export async function smoke(action: SmokeAction, clock: Clock, signal: AbortSignal): Promise<SmokeResult> {
  const began = clock.now();
  using connection = new GrpcConnection(action.address, action.connection);
  try {
    const cacheHit = await run(connection, action, signal);
    const message = cacheHit ? "ran, and was found in the cache" : "ran, but was not found in the cache";
    return { ok: cacheHit, latencyMs: clock.now() - began, cacheHit, message };
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    return {
      ok: false,
      latencyMs: clock.now() - began,
      cacheHit: false,
      message: `${error.code}: ${error.message}`,
    };
  }
}

async function run(
  connection: GrpcConnection,
  { instanceName, platform, nonce, timeoutSeconds }: SmokeAction,
  signal: AbortSignal,
): Promise<boolean> {
  const content = `${nonce}\n`;
  const root = blob(Directory.encode({}));
  const command = blob(
    Command.encode({
      arguments: ["/bin/sh", "-c", `printf '%s\\n' ${nonce} > ${outputName}`],
      outputPaths: [outputName],
      outputFiles: [outputName],
      platform: { properties: platform },
    }),
  );
  const action = blob(
    Action.encode({
      commandDigest: command.digest,
      inputRootDigest: root.digest,
      timeout: { seconds: timeoutSeconds },
      platform: { properties: platform },
    }),
  );
  const requests = [root, command, action];
  const { responses } = await connection.call(batchUpdateBlobs, { instanceName, requests }, signal);
  for (const { status } of responses) throwUnlessOk(status, "upload");
  const digest = await outputOf(connection, instanceName, action.digest, signal);
  const read = await connection.call(batchReadBlobs, { instanceName, digests: [digest] }, signal);
  throwUnlessOk(read.responses[0]?.status, "download");
  const found = read.responses[0]?.data.toString();
  if (found !== content)
    throw new GrpcError(
      "DATA_LOSS",
      `the output has ${JSON.stringify(found)} for ${JSON.stringify(content)}`,
    );
  return await isCached(connection, instanceName, action.digest, signal);
}

/** Has an action executed. @returns the digest of its output. */
async function outputOf(
  connection: GrpcConnection,
  instanceName: string,
  actionDigest: Digest,
  signal: AbortSignal,
): Promise<Digest> {
  const request = { instanceName, actionDigest, skipCacheLookup: true };
  for await (const { done, error, response } of connection.stream(execute, request, signal)) {
    if (!done) continue;
    throwUnlessOk(error, "Execute");
    const { status, result, message } = ExecuteResponse.decode(response?.value ?? Buffer.alloc(0));
    throwUnlessOk(status, "the action");
    if (result === undefined || result.exitCode !== 0)
      throw new GrpcError(
        "ABORTED",
        `the action ended with status ${result?.exitCode}: ${result?.stderrRaw.toString() || message}`.trim(),
      );
    const digest = result.outputFiles.find(({ path }) => path === outputName)?.digest;
    if (digest === undefined) throw new GrpcError("DATA_LOSS", "the action has no output");
    return digest;
  }
  throw new GrpcError("UNAVAILABLE", "the answer ended before the action did");
}

async function isCached(
  connection: GrpcConnection,
  instanceName: string,
  actionDigest: Digest,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await connection.call(getActionResult, { instanceName, actionDigest }, signal);
    return true;
  } catch (error) {
    if (error instanceof GrpcError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}

function blob(data: Buffer): { readonly data: Buffer; readonly digest: Digest } {
  return { data, digest: { hash: createHash("sha256").update(data).digest("hex"), sizeBytes: data.length } };
}

function throwUnlessOk(
  status: { readonly code: number; readonly message: string } | undefined,
  what: string,
): void {
  if (status === undefined || status.code === 0) return;
  throw new GrpcError(grpcCodes[status.code] ?? "UNKNOWN", `${what}: ${status.message}`);
}
