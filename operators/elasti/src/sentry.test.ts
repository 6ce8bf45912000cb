import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ManualClock } from "@windlass/clock";
import { silentLogger } from "@windlass/runtime";
import { expect, onTestFinished, test } from "vitest";
import { DsnError, projectOf, reporting, Sentry } from "./sentry.ts";

interface Received {
  readonly path: string | undefined;
  readonly auth: string | undefined;
  readonly lines: readonly Record<string, unknown>[];
}

async function startSentry(status = 200, headers: Record<string, string> = {}) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const lines = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      received.push({ path: request.url, auth: request.headers["x-sentry-auth"]?.toString(), lines });
      response.writeHead(status, headers).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, dsn: `http://public@127.0.0.1:${(server.address() as AddressInfo).port}/7` };
}

test("an error is reported as an event, with what it is about and nothing else", async () => {
  const { received, dsn } = await startSentry();
  const sentry = new Sentry({ dsn, program: "elasti-operator", environment: "test" });
  const fields = {
    err: new TypeError("no such thing"),
    namespace: "shop",
    headers: { authorization: "secret" },
  };
  await sentry.report("error", "a wake could not be written", fields);
  expect(received).toHaveLength(1);
  const [{ path, auth, lines } = { path: "", auth: "", lines: [] }] = received;
  expect(path).toBe("/api/7/envelope/");
  expect(auth).toContain("sentry_key=public");
  expect(lines[1]).toEqual({ type: "event" });
  expect(lines[2]).toMatchObject({
    level: "error",
    environment: "test",
    message: { formatted: "a wake could not be written" },
    tags: { program: "elasti-operator", namespace: "shop" },
    exception: { values: [{ type: "TypeError", value: "no such thing" }] },
  });
  expect(JSON.stringify(lines)).not.toContain("secret");
});

test("a logger reports errors of its children with their bindings, and no other level", async () => {
  const reports: unknown[] = [];
  const log = reporting(silentLogger, {
    report: async (level, message, fields) => void reports.push([level, message, fields]),
  });
  log.info("all is well");
  log.warn({ port: 1 }, "careful");
  log.child({ controller: "elastiservice" }).error({ port: 2 }, "it failed");
  log.fatal?.("the end");
  expect(reports).toEqual([
    ["error", "it failed", { controller: "elastiservice", port: 2 }],
    ["fatal", "the end", {}],
  ]);
});

test("a storm of errors is cut off, and goes on in the next minute", async () => {
  const { received, dsn } = await startSentry();
  const clock = new ManualClock();
  const sentry = new Sentry({ dsn, program: "p", clock });
  for (let error = 0; error < 100; error++) await sentry.report("error", "again", {});
  expect(received).toHaveLength(30);
  await clock.advance(60_000);
  await sentry.report("error", "again", {});
  expect(received).toHaveLength(31);
});

test("a server that limits the rate is left alone for as long", async () => {
  const { received, dsn } = await startSentry(429, { "retry-after": "120" });
  const clock = new ManualClock();
  const sentry = new Sentry({ dsn, program: "p", clock });
  await sentry.report("error", "one", {});
  await clock.advance(119_000);
  await sentry.report("error", "two", {});
  expect(received).toHaveLength(1);
  await clock.advance(2_000);
  await sentry.report("error", "three", {});
  expect(received).toHaveLength(2);
});

test("a server that is not there changes nothing", async () => {
  const sentry = new Sentry({ dsn: "http://key@127.0.0.1:1/7", program: "p" });
  await expect(sentry.report("error", "lost", {})).resolves.toBeUndefined();
});

test.for(["https://host/1", "https://key@host/", "key@host/1", "ftp://key@host/1"])("%s is no DSN", (dsn) => {
  expect(() => projectOf(dsn)).toThrow(DsnError);
});

test("a DSN below a path keeps it", () => {
  expect(projectOf("https://key@host/sentry/3")).toEqual({
    url: "https://host/sentry/api/3/envelope/",
    key: "key",
  });
});
