import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "./http/request.ts";
import { inProcessTransport } from "./in-process.ts";

const post = { method: "POST", path: "/", headers: {}, body: "{}" };
const answer: ApiResponse = { status: 200, headers: {}, body: "{}" };

test("a signal keeps no trace of the requests and streams that ended before it was aborted", async () => {
  const { signal } = new AbortController();
  const stream: ApiResponse = {
    ...answer,
    body: (sink) => {
      sink.write(Buffer.from("event\n"));
      sink.end();
      return () => undefined;
    },
  };
  for (const response of [answer, stream]) {
    const transport = inProcessTransport(() => Promise.resolve(response), undefined);
    const { body } = await transport.request({ ...post, signal });
    await Array.fromAsync(body);
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a guard that throws keeps the request from the server", async () => {
  const seen: ApiRequest[] = [];
  const transport = inProcessTransport((request) => {
    seen.push(request);
    return Promise.resolve(answer);
  }, undefined);
  const guard = () => {
    throw new Error("not now");
  };
  await expect(transport.request({ ...post, guard })).rejects.toThrow("not now");
  expect(seen).toEqual([]);
});

test("the server learns why a request was aborted", async () => {
  const controller = new AbortController();
  const reason = new Error("the lease is lost");
  const transport = inProcessTransport(({ signal }) => {
    controller.abort(reason);
    signal.throwIfAborted();
    return Promise.resolve(answer);
  }, undefined);
  await expect(transport.request({ ...post, signal: controller.signal })).rejects.toBe(reason);
});
