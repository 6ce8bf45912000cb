const MIB = 2 ** 20;

/** What a gateway takes before anybody is connected. */
const BASE_BYTES = 112 * MIB;
/** What a connection takes, with what waits in it for a slow reader. */
const CONNECTION_BYTES = 200 * 2 ** 10;
const FEWEST = 200;
const MOST = 10_000;

/**
 * How many connections a gateway may have. One whose memory runs out is killed with all builds that
 * go through it; one more client that is refused can try again.
 *
 * @param memoryBytes The limit of its container; 0 or beyond what there is: none.
 */
export function connectionsThatFit(memoryBytes: number): number {
  if (memoryBytes === 0) return MOST;
  return Math.max(FEWEST, Math.min(MOST, Math.floor((memoryBytes - BASE_BYTES) / CONNECTION_BYTES)));
}

/**
 * How many bytes may wait in a connection, each way, so that all of them together stay within what
 * there is.
 *
 * @param connections How many there are.
 * @param most How many there may be.
 */
export function bufferBytesFor(connections: number, most: number): number {
  const all = (most * CONNECTION_BYTES) / 12;
  return Math.round(Math.max(16 * 2 ** 10, Math.min(256 * 2 ** 10, all / Math.max(1, connections))));
}
