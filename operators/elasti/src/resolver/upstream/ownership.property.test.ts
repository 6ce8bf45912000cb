import { systemClock } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { answering, Pod, response, until } from "../test-environment.fixture.ts";
import type { UpstreamConnection, UpstreamOwner } from "./connection.ts";
import { LostPeers } from "./lost-peers.ts";
import { UpstreamPool } from "./pool.ts";

/** Sends one request, and knows which answer is its own. */
class Owner implements UpstreamOwner {
  readonly id: number;
  readonly connection: UpstreamConnection;
  body = "";
  ends = 0;
  failures = 0;

  constructor(id: number, pool: UpstreamPool) {
    this.id = id;
    this.connection = pool.take(this, "repeatable");
    if (this.connection.isConnected) this.connected();
  }

  get isOver(): boolean {
    return this.ends + this.failures > 0;
  }

  connected(): void {
    this.connection.begin(this, "GET");
    this.connection.writeText(this, `GET /${this.id} HTTP/1.1\r\nHost: a\r\n\r\n`);
    this.connection.requestSent(this);
  }

  data(bytes: Buffer, start: number, end: number): void {
    this.body += bytes.toString("latin1", start, end);
  }

  end(): void {
    this.ends += 1;
  }

  failed(): void {
    this.failures += 1;
  }

  head(): void {
    // Its body has its owner.
  }

  interim(): void {
    // None is sent.
  }

  flush(): void {
    // Nothing is collected.
  }

  drained(): void {
    // Requests are short.
  }
}

test("a connection has one owner at a time, and each gets its own answer alone, exactly once", async () => {
  const pod = await Pod.start(answering((head) => response(head.split(" ")[1] ?? "")));
  const lostPeers = new LostPeers(systemClock);
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("ask", "ask", "leave", "wait", "close", "retire"), { maxLength: 40 }),
        async (commands) => {
          let open = 0;
          const count = (change: 1 | -1) => {
            open += change;
          };
          const pool = new UpstreamPool(pod.endpoint, {
            clock: systemClock,
            counted: count,
            readBuffer: Buffer.alloc(65_536),
            lostPeers,
          });
          const owners: Owner[] = [];
          const left = new Set<Owner>();
          const busy = () => owners.filter((owner) => !owner.isOver && !left.has(owner));
          for (const command of commands) {
            if (command === "ask") owners.push(new Owner(owners.length, pool));
            else if (command === "wait") await until(() => busy().length === 0);
            else if (command === "retire") pool.retire();
            else if (command === "close") for (const socket of pod.sockets) socket.destroy();
            else {
              const [owner] = busy();
              if (!owner) continue;
              left.add(owner);
              owner.connection.drop(owner);
              expect(() => owner.connection.writeText(owner, "x")).toThrow();
            }
            const connections = busy().map(({ connection }) => connection);
            expect(new Set(connections).size).toBe(connections.length);
          }
          await until(() => busy().length === 0);
          for (const owner of owners) {
            expect(owner.ends + owner.failures).toBe(left.has(owner) ? 0 : 1);
            if (owner.ends === 1) expect(owner.body).toBe(`/${owner.id}`);
          }
          pool.retire();
          expect(open).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  } finally {
    lostPeers.stop();
    await pod.stop();
  }
});
