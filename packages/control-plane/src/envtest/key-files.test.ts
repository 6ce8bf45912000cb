import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@windlass/certificates";
import { expect, onTestFinished, test } from "vitest";
import { readPublicKeys, readTokenFile } from "./key-files.ts";

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "key-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");
  writeFileSync(path, text);
  return path;
}

const shown = (key: KeyObject) => key.export({ type: "spki", format: "pem" });

test("public keys are read from whatever form a file has them in, one after the other", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const authority = createAuthority({ commonName: "sa", validFor: 3_600_000 });
  const path = fileWith(
    [
      rsa.publicKey.export({ type: "pkcs1", format: "pem" }),
      rsa.privateKey.export({ type: "pkcs8", format: "pem" }),
      "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n",
      ec.privateKey.export({ type: "sec1", format: "pem" }),
      ec.publicKey.export({ type: "spki", format: "pem" }),
      authority.certificate,
    ].join(""),
  );
  const keys = readPublicKeys(path);
  expect(keys.slice(0, 4).map(shown)).toEqual([rsa, rsa, ec, ec].map(({ publicKey }) => shown(publicKey)));
  expect(keys).toHaveLength(5);
});

test("a token file says whose each token is", () => {
  const path = fileWith('abc,alice,7,"dev,ops"\nxyz,bob,\n\n"q""t",carol,9,solo\n');
  expect([...readTokenFile(path)]).toEqual([
    ["abc", { name: "alice", uid: "7", groups: ["dev", "ops"] }],
    ["xyz", { name: "bob", groups: [] }],
    ['q"t', { name: "carol", uid: "9", groups: ["solo"] }],
  ]);
});

test("a line of a token file that is too short is refused with its number", () => {
  expect(() => readTokenFile(fileWith("a,b,c\na,b\n"))).toThrow("line 2");
});
