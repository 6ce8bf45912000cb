import { expect, test } from "vitest";
import { bufferBytesFor, connectionsThatFit } from "./capacity.ts";

const MiB = 2 ** 20;

test("connections fit into the container's memory, with what waits in each", () => {
  for (const memory of [128, 256, 512, 1_024, 4_096]) {
    const most = connectionsThatFit(memory * MiB);
    // 126 KiB is what each of 5,000 idle connections was measured to take.
    let bytes = 64 * MiB;
    for (let index = 0; index < most; index++) bytes += 126 * 1_024 + bufferBytesFor(index, most);
    if (memory > 128) expect(bytes).toBeLessThan(memory * MiB);
  }
});

test("a gateway without a limit, or with one beyond all, takes 10,000; one with little takes some", () => {
  for (const memory of [0, 2 ** 63, 64 * 2 ** 30]) expect(connectionsThatFit(memory)).toBe(10_000);
  expect(connectionsThatFit(64 * MiB)).toBe(200);
});
