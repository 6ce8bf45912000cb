import { World, until } from "../src/resolver/world.fixture.ts";
import { ManualClock } from "@windlass/clock";
const delay = (ms: number) => new Promise((r) => setTimeout(r, ms));
for (const [protocol, beginning] of [["auto", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n"], ["tcp", ""]] as const) {
  const clock = new ManualClock();
  const world = await World.start({ clock, protocol, limits: { unread: 2 } });
  const long = "x".repeat(200_000);
  const [first, second, third] = [world.client(), world.client(), world.client()];
  first.send(beginning).send(long); second.send(beginning).send(long);
  await until(() => world.traffic.held === 2); await delay(100); console.log("two");
  third.send(beginning).send(long); await delay(300); console.log("third", third.isClosed, third.error?.code, third.received.slice(0, 20), world.traffic.held);
  const short = world.client().send(protocol === "auto" ? beginning.replace("5000000", "4") + "some" : "some");
  await delay(100); console.log("held", world.traffic.held);
  first.socket.resetAndDestroy();
  for (let i = 0; i < 10 && world.traffic.held > 2; i++) { await clock.advance(1000); await delay(20); }
  console.log("held", world.traffic.held);
  const fourth = world.client().send(beginning).send(long); await delay(200); console.log("held", world.traffic.held, fourth.isClosed);
  await world[Symbol.asyncDispose]();
}
process.exit(0);
