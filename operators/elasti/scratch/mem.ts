import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
const child = fork("operators/elasti/scratch/mem-child.ts", { execArgv: ["--expose-gc"] });
const [{ port }] = (await once(child, "message")) as any;
const ask = async () => { child.send({}); return (await once(child, "message"))[0] as any; };
console.log("idle", await ask());
const n = Number(process.argv[2] ?? 1000); const size = Number(process.argv[3] ?? 200000);
const body = Buffer.alloc(size, "x");
const socks = [];
for (let i = 0; i < n; i++) { const s = connect(port, "127.0.0.1"); s.on("error", () => {}); s.write(size ? `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n` : "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); if (size) s.write(body); socks.push(s); if (i % 100 === 99) await new Promise((r) => setTimeout(r, 50)); }
await new Promise((r) => setTimeout(r, 1500));
const a = await ask();
console.log(n, "held of", size, a, "per request", Math.round((a.rss) / n / 1000), "kB");
child.kill(); process.exit(0);
