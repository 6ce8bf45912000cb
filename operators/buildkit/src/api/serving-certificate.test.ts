import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { silentLogger } from "@windlass/runtime";
import { expect, test, vi } from "vitest";
import { ServingCertificate, type ServingCredentials } from "./serving-certificate.ts";

const authority = createAuthority({ commonName: "test", validFor: "1h" });
const leaf = () => authority.issue({ commonName: "api", usages: ["server"], validFor: "10m" });

test("what cannot be served leaves the certificate before in use, an empty file too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "serving-certificate-"));
  const put = (name: string, text: string) => writeFile(join(folder, name), text);
  const used: ServingCredentials[] = [];
  const faults: unknown[] = [];
  const stop = new AbortController();
  try {
    const first = leaf();
    await put("tls.crt", first.certificate);
    await put("tls.key", first.key);
    const certificate = new ServingCertificate({
      source: { from: "folder", folder },
      credentials: {
        clientAuthority: async () => authority,
        clientTrust: async () => authority.certificate,
      },
      clock: systemClock,
      log: { ...silentLogger, error: (fields: unknown) => void faults.push(fields) },
      use: (found) => used.push(found),
    });
    const followed = await certificate.start(stop.signal);
    for (const [name, text, fault] of [
      ["tls.crt", "", "cannot be read"],
      ["tls.crt", leaf().certificate, "do not belong together"],
      ["tls.key", "", "cannot be read"],
    ] as const) {
      await put(name, text);
      await vi.waitFor(() => expect(JSON.stringify(faults)).toContain(fault), { timeout: 5_000 });
      faults.length = 0;
    }
    expect(used.map(({ pair }) => pair.certificate)).toEqual([first.certificate]);
    const second = leaf();
    await put("tls.key", second.key);
    await put("tls.crt", second.certificate);
    await vi.waitFor(() => expect(used.at(-1)?.pair.certificate).toBe(second.certificate), {
      timeout: 5_000,
    });
    stop.abort();
    await followed();
  } finally {
    stop.abort();
    await rm(folder, { recursive: true });
  }
});
