import { constants, performServerHandshake } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "@windlass/clock";
import { grpcStatus, type Refusal } from "./refusal.ts";

/** Enough for the first calls of any gRPC client; a peer that needs more is not one. */
const sessionLimits = {
  maxSessionMemory: 1,
  maxHeaderListPairs: 64,
  maxSessionInvalidFrames: 10,
  settings: { maxConcurrentStreams: 16, maxHeaderListSize: 16_384, enablePush: false },
};

/** How long a client may take to make its first call. */
const FIRST_CALL_MS = 5_000;

/**
 * How long further calls are answered. buildctl makes two, and would connect again for the second.
 * A client that tries again later should connect again: the answer may be another by then.
 */
const FURTHER_CALLS_MS = 1_000;

/**
 * Answers every call of a connection with a gRPC status, so that the client prints the reason
 * instead of "EOF".
 */
export function answerRefusal(client: TLSSocket, refusal: Refusal, clock: Clock): void {
  if (client.destroyed) return;
  const session = performServerHandshake(client, sessionLimits);
  let cancel = clock.schedule(FIRST_CALL_MS, () => session.destroy());
  let hasAnswered = false;
  session.on("error", () => session.destroy());
  session.once("close", () => {
    cancel();
    client.destroy();
  });
  session.on("stream", (stream) => {
    stream.on("error", () => stream.destroy());
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": String(grpcStatus[refusal.code]),
        "grpc-message": percentEncoded(refusal.message),
      },
      { endStream: true },
    );
    // The client need not send the rest of its request.
    stream.close(constants.NGHTTP2_NO_ERROR);
    if (hasAnswered) return;
    hasAnswered = true;
    cancel();
    cancel = clock.schedule(FURTHER_CALLS_MS, () => session.destroy());
  });
}

/** gRPC's own encoding of messages: printable ASCII without the percent sign stays as it is. */
export function percentEncoded(message: string): string {
  return [...Buffer.from(message)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}
