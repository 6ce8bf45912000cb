import { createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listening } from "./listening.ts";

const local = { port: 0, host: "127.0.0.1" };

function aServer(): Server {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}

test("errors of a server that listens are logged, each of them, and end nothing", async () => {
  const server = aServer();
  const told: string[] = [];
  const port = await listening(server, local, {
    explain: (error) => error,
    onError: ({ message }) => told.push(message),
  });
  expect(port).toBeGreaterThan(0);
  for (const fault of ["first", "second", "third"]) server.emit("error", new Error(fault));
  expect(told).toEqual(["first", "second", "third"]);
});

test("a server that cannot listen fails with what is made of the error, and nothing is logged", async () => {
  const told: string[] = [];
  const options = {
    explain: ({ code }: NodeJS.ErrnoException) => new Error(`no port: ${code}`),
    onError: ({ message }: Error) => told.push(message),
  };
  const port = await listening(aServer(), local, options);
  await expect(listening(aServer(), { ...local, port }, options)).rejects.toThrow("no port: EADDRINUSE");
  expect(told).toEqual([]);
});
