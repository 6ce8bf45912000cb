/** A piece of a connection that goes through a tunnel. Without bytes it is its end. */
export interface Frame {
  readonly id: number;
  readonly bytes: Buffer;
}

const headLength = 8;

/** Reads frames from a stream, however it is cut. */
export async function* framesIn(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      if (pending.length < headLength) break;
      const length = pending.readUInt32BE(4);
      if (pending.length < headLength + length) break;
      yield { id: pending.readUInt32BE(0), bytes: pending.subarray(headLength, headLength + length) };
      pending = pending.subarray(headLength + length);
    }
  }
}
