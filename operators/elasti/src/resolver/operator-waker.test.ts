import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { OperatorWaker, WakeRefusedError } from "./operator-waker.ts";

/** An operator that notes what it receives. */
async function operator(status: () => number) {
  const received: { readonly request: IncomingMessage; readonly body: unknown }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (bytes: Buffer) => {
      text += bytes.toString();
    });
    request.on("end", () => {
      received.push({ request, body: JSON.parse(text) });
      response.writeHead(status()).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const demand = { namespace: "shop", service: "web", waiting: 12 };

test("the operator is called in the original's form, with the token as it is at the time", async () => {
  const { received, url } = await operator(() => 202);
  const tokenFile = join(await mkdtemp(join(tmpdir(), "waker-")), "token");
  const waker = new OperatorWaker({ operator: url, tokenFile });
  for (const token of ["first", "second"]) {
    await writeFile(tokenFile, `${token}\n`);
    await waker.wake(demand, new AbortController().signal);
    expect(received.at(-1)?.request).toMatchObject({
      method: "POST",
      url: "/informer/incoming-request",
      headers: { authorization: `Bearer ${token}` },
    });
  }
  expect(received[0]?.body).toEqual({ count: 12, svc: "web", namespace: "shop" });
});

test("an operator that refuses, or is not there, makes the call fail", async () => {
  const { url } = await operator(() => 503);
  const { signal } = new AbortController();
  await expect(new OperatorWaker({ operator: url }).wake(demand, signal)).rejects.toThrow(WakeRefusedError);
  await expect(new OperatorWaker({ operator: "http://127.0.0.1:1" }).wake(demand, signal)).rejects.toThrow();
});
