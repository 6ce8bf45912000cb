import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { InProcessTransport } from "../in-process.ts";

const path = "/api/v1/namespaces/default/configmaps";
const watchers = 1_000;
const writes = 40;

async function send(
  transport: InProcessTransport,
  method: string,
  at: string,
  body?: object,
): Promise<number> {
  const answer = await transport.request({
    method,
    path: at,
    headers: { "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  for await (const _ of answer.body);
  return answer.status;
}

/** The first events that a watch brings, as `TYPE name`. */
async function firstEvents(transport: InProcessTransport, count: number): Promise<string[]> {
  const events: string[] = [];
  const { body } = await transport.request({
    method: "GET",
    path: `${path}?watch=true&resourceVersion=0`,
    headers: {},
  });
  let rest = "";
  for await (const chunk of body) {
    rest += Buffer.from(chunk).toString("utf8");
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
      if (object.metadata.name !== "kube-root-ca.crt") events.push(`${type} ${object.metadata.name}`);
    }
    if (events.length >= count) break;
  }
  return events;
}

test("a thousand watchers each see every event, in order", async () => {
  await using plane = await ControlPlane.start({ controllers: "none" });
  const transport = plane.connect();
  const seen = Array.from({ length: watchers }, () => firstEvents(transport, writes * 2));
  const expected: string[] = [];
  for (let index = 0; index < writes; index++) {
    const name = `event-${index}`;
    expect(await send(transport, "POST", path, { metadata: { name } })).toBe(201);
    expect(await send(transport, "DELETE", `${path}/${name}`)).toBe(200);
    expected.push(`ADDED ${name}`, `DELETED ${name}`);
  }
  for (const events of await Promise.all(seen)) expect(events).toEqual(expected);
});
