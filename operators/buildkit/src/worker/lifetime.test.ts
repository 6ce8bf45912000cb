import { expect, test } from "vitest";
import { BuildKitPool } from "../pool/pool.ts";
import { workerCertificateMs } from "./lifetime.ts";

const hour = 3_600_000;
const lifeOf = (serverCertDuration: string) =>
  workerCertificateMs(
    BuildKitPool.make({ namespace: "builds", name: "ci" }, { tls: { auto: { serverCertDuration } } }),
  );

test("a worker's certificate outlives the longest allocation that begins at the end of its life", () => {
  expect(lifeOf("10m")).toBeGreaterThanOrEqual(7 * 24 * hour);
  expect(lifeOf("8760h")).toBe(8_760 * hour);
});
