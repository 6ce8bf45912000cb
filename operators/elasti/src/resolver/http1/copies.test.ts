import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Copies } from "./copies.ts";

/** Two ends of a connection. */
async function connected(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    for (const end of [near, far]) end.destroy();
    server.close();
  });
  return [near, far];
}

test("what passes arrives as it was, in memory that is used again once it is sent", async () => {
  const [near, far] = await connected();
  const copies = new Copies();
  const [sent, received] = [createHash("sha256"), createHash("sha256")];
  far.on("data", (bytes: Buffer) => received.update(bytes));
  // One piece of memory for all reads, as the resolver has it.
  const read = Buffer.alloc(64 * 1024);
  for (let round = 0; round < 500; round++) {
    read.fill(round % 251);
    const length = 10_000 + ((round * 7_919) % (read.length - 10_000));
    sent.update(read.subarray(0, length));
    copies.write(near, read, 0, length);
    if (near.writableNeedDrain) await once(near, "drain");
    // As the next bytes do, which are read in a turn of their own.
    await setImmediate();
  }
  near.end();
  await once(far, "end");
  expect(received.digest("hex")).toBe(sent.digest("hex"));
  expect(copies.made).toBeLessThanOrEqual(4);
});

test("memory comes back from a connection that is lost before all was sent", async () => {
  const [near, far] = await connected();
  const copies = new Copies();
  near.on("error", () => undefined);
  far.pause();
  const read = Buffer.alloc(64 * 1024);
  for (let round = 0; round < 40; round++) copies.write(near, read, 0, read.length);
  expect(copies.made).toBeGreaterThan(20);
  const before = copies.made;
  near.destroy();
  await once(near, "close");
  const [again, reading] = await connected();
  reading.resume();
  for (let round = 0; round < 20; round++) copies.write(again, read, 0, read.length);
  expect(copies.made).toBe(before);
});
