import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { ModelRun } from "../reconcile/model-run.fixture.ts";
import { webhookServer } from "../webhook/index.ts";

/** Occupies a port, unless another process has it already. */
async function take(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once("error", () => resolve());
    server.listen(port, () => resolve());
  });
  onTestFinished(async () => {
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  });
}

test.each([
  [8081, "health", { health: {} }],
  [8080, "metrics", { metrics: {} }],
] as const)("port %i is where %s is served unless another is set", async (port, what, options) => {
  await take(port);
  const run = new ModelRun(options);
  await expect(run.manager.start()).rejects.toThrow(`port ${port} for ${what} is in use`);
});

test("port 9443 is where webhooks are served unless another is set", async () => {
  await take(9443);
  const run = new ModelRun();
  run.manager.add(webhookServer({ name: "gadgets" }));
  await expect(run.manager.start()).rejects.toThrow("port 9443 for webhooks is in use");
});

test("a process with nothing but a runnable stays, and a second signal ends it if it does not come to its end", async () => {
  const program = `
    import { Client } from "@windlass/client";
    import { manager, silentLogger } from "@windlass/runtime";
    const answer = { status: 200, headers: {}, body: [Buffer.from("{}")] };
    const transport = { request: () => Promise.resolve(answer), close: () => Promise.resolve() };
    const endless = { name: "endless", start: () => { console.log("up"); return () => { console.log("stopping"); return new Promise(() => {}); }; } };
    const options = { client: new Client({ transport }), health: false, metrics: false, log: silentLogger };
    await manager(options).add(endless).run();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = async (text: string) => {
    let heard = "";
    while (!heard.includes(text)) heard += String((await once(child.stdout, "data"))[0]);
  };
  const exited = once(child, "exit");
  await said("up");
  child.kill("SIGTERM");
  await said("stopping");
  child.kill("SIGTERM");
  expect(await exited).toEqual([1, null]);
});
