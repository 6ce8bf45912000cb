import fc from "fast-check";
import { expect, test } from "vitest";
import { ContainerLog } from "./container-log.ts";

test("what is written comes out the same, however it was cut into pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
      const log = new ContainerLog(() => 0);
      for (const piece of pieces) log.write("stdout", Buffer.from(piece));
      log.end();
      expect(log.read({})).toEqual(Buffer.concat(pieces));
    }),
  );
});

test("lines are chosen by their number, their time, their stream and their size", () => {
  let now = 1_000;
  const log = new ContainerLog(() => now);
  log.write("stdout", Buffer.from("one\ntwo\n"));
  now = 2_000;
  log.write("stderr", Buffer.from("three\n"));
  expect(log.read({ tailLines: 2 }).toString()).toBe("two\nthree\n");
  expect(log.read({ tailLines: 0 }).toString()).toBe("");
  expect(log.read({ sinceMs: 1_500 }).toString()).toBe("three\n");
  expect(log.read({ stream: "stdout" }).toString()).toBe("one\ntwo\n");
  expect(log.read({ limitBytes: 5 }).toString()).toBe("one\nt");
  expect(log.read({ tailLines: 1, timestamps: true }).toString()).toBe("1970-01-01T00:00:02.000Z three\n");
});

test("a long log keeps its end", () => {
  const log = new ContainerLog(() => 0, 100);
  for (let line = 0; line < 1_000; line++) log.write("stdout", Buffer.from(`${line}\n`));
  const text = log.read({}).toString();
  expect(text.length).toBeLessThanOrEqual(100);
  expect(text.endsWith("998\n999\n")).toBe(true);
});

test("a follower hears every line to come, and then the end", () => {
  const log = new ContainerLog(() => 0);
  log.write("stdout", Buffer.from("before\n"));
  const heard: (string | undefined)[] = [];
  log.follow((line) => heard.push(line?.text.toString()));
  log.write("stdout", Buffer.from("after\nopen"));
  log.end();
  log.follow((line) => heard.push(line?.text.toString()));
  expect(heard).toEqual(["after\n", "open", undefined, undefined]);
});
