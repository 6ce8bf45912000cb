import { World } from "../src/resolver/world.fixture.ts";
const world = await World.start({ limits: { held: 50000 } });
world.ready();
process.send!({ port: world.port });
process.on("message", () => { (globalThis as any).gc?.(); process.send!({ rss: process.memoryUsage().rss, ext: process.memoryUsage().arrayBuffers, held: world.traffic.held }); });
