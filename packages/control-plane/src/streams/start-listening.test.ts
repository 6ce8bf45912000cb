import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startListening } from "./start-listening.ts";

test("errors of an open server are logged, each of them, and end nothing", async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const told: string[] = [];
  await startListening(server, { port: 0, host: "127.0.0.1" }, ({ message }) => told.push(message));
  server.emit("error", new Error("accept EMFILE"));
  server.emit("error", new Error("accept ENFILE"));
  expect(told).toEqual(["accept EMFILE", "accept ENFILE"]);
});

test("a server that cannot open says why, and can be opened elsewhere", async () => {
  const [first, second] = [createServer(), createServer()];
  onTestFinished(() => {
    first.close();
    second.close();
  });
  const told: Error[] = [];
  const options = { port: 0, host: "127.0.0.1" };
  await startListening(first, options, (error) => told.push(error));
  const { port } = first.address() as AddressInfo;
  const taken = startListening(second, { ...options, port }, (error) => told.push(error));
  await expect(taken).rejects.toMatchObject({ code: "EADDRINUSE" });
  await startListening(second, options, (error) => told.push(error));
  expect(told).toEqual([]);
  second.emit("error", new Error("later"));
  expect(told).toHaveLength(1);
});
