import { expect, onTestFinished, test } from "vitest";
import { startInternalServer } from "./internal-server.ts";
import { TestEnvironment, until } from "./test-environment.fixture.ts";

test("the operator learns what a resolver does for a service, and which step it acts by", async () => {
  await using environment = await TestEnvironment.start();
  const server = await startInternalServer(
    {
      trafficOf: (key) => environment.resolver.trafficOf(key),
      traffic: () => environment.resolver.traffic(),
      stepOf: (key) => (key === "shop/web" ? 7 : undefined),
    },
    { port: 0, host: "127.0.0.1" },
  );
  onTestFinished(() => server.stop());
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, body: await response.json() };
  };
  environment.client().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => environment.traffic.held === 1);
  expect(await get("/traffic/shop/web")).toMatchObject({
    status: 200,
    body: { namespace: "shop", service: "web", requests: 1, held: 1, inFlight: 0, step: 7 },
  });
  expect(await get("/traffic")).toMatchObject({ body: [{ service: "web", held: 1 }] });
  expect(await get("/queue-status?namespace=shop&service=web")).toMatchObject({ body: { queueStatus: 1 } });
  expect(await get("/queue-status?namespace=shop&service=other")).toMatchObject({ body: { queueStatus: 0 } });
  for (const path of ["/traffic/shop/other", "/traffic/shop", "/traffic/%/web", "/other"])
    expect(await get(path)).toMatchObject({ status: 404 });
  // What no URL can be made of.
  for (const target of ["//", "//[", "/\\x80", "http://[", "*"]) {
    const client = environment.client(server.port);
    client.send(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await client.gets("404 Not Found");
  }
});
