import { Duplex } from "node:stream";
import { connect } from "node:tls";
import fc from "fast-check";
import { expect, test } from "vitest";
import { serverName } from "./client-hello.ts";

/** The first bytes that Node's own TLS sends. */
async function hello(servername?: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const wire = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      resolve(bytes);
      done();
    },
  });
  const socket = connect({ socket: wire, ...(servername !== undefined && { servername }) });
  socket.on("error", () => socket.destroy());
  const bytes = await promise;
  socket.destroy();
  return bytes;
}

test("the server that a client names is found, once enough has come", async () => {
  const bytes = await hello("web.shop.svc.cluster.local");
  expect(serverName(bytes)).toEqual({ is: "named", name: "web.shop.svc.cluster.local" });
  const seen = Array.from({ length: bytes.length }, (_, end) => serverName(bytes.subarray(0, end + 1)).is);
  const first = seen.indexOf("named");
  expect(seen.slice(0, first).every((is) => is === "incomplete")).toBe(true);
  expect(seen.slice(first).every((is) => is === "named")).toBe(true);
});

test("a client that names none differs from one that has not done so yet", async () => {
  expect(serverName(await hello())).toEqual({ is: "unnamed" });
});

test("no bytes make it fail", async () => {
  const bytes = await hello("a.example");
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255))),
      fc.nat(bytes.length),
      (changes, end) => {
        const changed = Buffer.from(bytes);
        for (const [at, byte] of changes) changed[at] = byte;
        expect(["named", "unnamed", "incomplete"]).toContain(serverName(changed.subarray(0, end)).is);
      },
    ),
  );
});
