import { createHmac } from "node:crypto";
import { systemRandom } from "@windlass/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addKey, type Keyring, poolKeyring } from "./keyring.ts";
import { issueToken, newAllocationId, parseAllocationHash, verifyToken } from "./token.ts";

const now = Date.UTC(2026, 0, 1);
const ring = addKey([], now, systemRandom);
const allocationId = newAllocationId(systemRandom);
const issue = (init: { ttl?: `${bigint}h`; now?: number; ring?: Keyring } = {}) =>
  issueToken(init.ring ?? ring, { allocationId, now: init.now ?? now, ttl: init.ttl ?? "1h" });

describe("a token", () => {
  test("verifies until it expires, and not from then on", () => {
    const { token, allocation, expiresAt } = issue();
    expect(expiresAt).toBe(now + 3_600_000);
    expect(verifyToken(ring, token, expiresAt - 1)).toEqual({ is: "valid", allocation, expiresAt });
    expect(verifyToken(ring, token, expiresAt)).toEqual({ is: "expired", allocation, expiresAt });
  });

  test("holds an hour unless said otherwise", () => {
    expect(issueToken(ring, { allocationId, now }).expiresAt).toBe(now + 3_600_000);
  });

  test.for(["0s", "24.1h", "2d", -1, Number.NaN, Number.POSITIVE_INFINITY] as const)(
    "cannot hold for %j",
    (ttl) => {
      expect(() => issueToken(ring, { allocationId, now, ttl })).toThrow("token: ttl");
    },
  );

  test("can hold for 24 hours", () => {
    expect(issue({ ttl: "24h" }).expiresAt).toBe(now + 24 * 3_600_000);
  });

  test("cannot be made without a key", () => {
    expect(() => issue({ ring: [] })).toThrow("there is no key to sign with");
  });

  test("that is renewed is another token of the same allocation", () => {
    const [first, renewed] = [issue(), issue({ now: now + 60_000 })];
    expect(renewed.token).not.toBe(first.token);
    expect(renewed.allocation).toBe(first.allocation);
  });

  test("is in no way part of the hash that stands for its allocation", () => {
    const { token, allocation } = issue();
    expect(parseAllocationHash(allocation)).toBe(allocation);
    expect(parseAllocationHash(token)).toBeUndefined();
    expect(allocation).not.toContain(Buffer.from(allocationId).toString("hex"));
  });
});

describe("no other text is a token", () => {
  test("of whatever kind it is", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary-ascii", maxLength: 60 }),
      fc.base64String({ maxLength: 80 }),
      fc
        .uint8Array({ minLength: 39, maxLength: 39 })
        .map((bytes) => Buffer.from(bytes).toString("base64url")),
      // Right in all but the signature.
      fc
        .uint8Array({ minLength: 36, maxLength: 36 })
        .map((bytes) => Buffer.concat([Uint8Array.of(1, 0, 1), bytes]).toString("base64url")),
    );
    fc.assert(
      fc.property(text, (other) => {
        const { is } = verifyToken(ring, other, now);
        return is === "malformed" || is === "unknown-key" || is === "forged";
      }),
      { numRuns: 2_000 },
    );
  });

  test("not even a token with one bit changed, one character more or one less", () => {
    const { token } = issue();
    const bytes = Buffer.from(token, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(["malformed", "unknown-key", "forged"]).toContain(
        verifyToken(ring, altered.toString("base64url"), now).is,
      );
    }
    for (const other of [
      `${token}A`,
      `${token}=`,
      token.slice(1),
      token.slice(0, -1),
      ` ${token}`,
      `${token}\n`,
    ])
      expect(verifyToken(ring, other, now)).toEqual({ is: "malformed" });
  });

  test("each token has one text", () => {
    const tokens = Array.from({ length: 50 }, () =>
      issueToken(ring, { allocationId: newAllocationId(systemRandom), now }),
    );
    const token = tokens.map((one) => one.token).find((text) => /-.*_|_.*-/.test(text)) ?? "";
    expect(Buffer.from(token, "base64url").toString("base64url")).toBe(token);
    for (const other of [token.replaceAll("-", "+"), token.replaceAll("_", "/")]) {
      expect(Buffer.from(other, "base64url").toString("base64url")).toBe(token);
      expect(verifyToken(ring, other, now)).toEqual({ is: "malformed" });
    }
  });

  test("of another version is one, though our key signed it", () => {
    const signed = Buffer.from(issue().token, "base64url").subarray(0, 23);
    const secret = ring[0]?.secret ?? new Uint8Array();
    const versioned = (version: number) => {
      signed.writeUInt8(version, 0);
      const tag = createHmac("sha256", secret).update(signed).digest().subarray(0, 16);
      return Buffer.concat([signed, tag]).toString("base64url");
    };
    expect(verifyToken(ring, versioned(1), now).is).toBe("valid");
    expect(verifyToken(ring, versioned(2), now)).toEqual({ is: "malformed" });
  });

  test("signed with the same key id by another ring is forged", () => {
    const foreign = addKey([], now, systemRandom);
    expect(foreign[0]?.id).toBe(ring[0]?.id);
    expect(verifyToken(ring, issue({ ring: foreign }).token, now)).toEqual({ is: "forged" });
  });

  test("of another pool is forged", () => {
    const [ours, theirs] = ["a", "b"].map((name) => poolKeyring(ring, { namespace: "builds", name }));
    if (!ours || !theirs) throw new Error("two rings");
    const { token } = issue({ ring: theirs });
    expect(verifyToken(theirs, token, now).is).toBe("valid");
    expect(verifyToken(ours, token, now)).toEqual({ is: "forged" });
    expect(verifyToken(ring, token, now)).toEqual({ is: "forged" });
  });
});
