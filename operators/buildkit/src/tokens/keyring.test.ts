import { seededRandom, systemRandom } from "@windlass/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addKey,
  arrivingKeyring,
  type KeyRotation,
  type Keyring,
  keyringStep,
  LARGEST_KEY_ID,
  neededKeys,
  poolKeyring,
  signingKey,
} from "./keyring.ts";
import { KeyringError, readKeyring, writeKeyring } from "./keyring-secret.ts";
import { type IssuedToken, issueToken, newAllocationId, verifyToken } from "./token.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);
const rotation: KeyRotation = { rotateEvery: "7d", settle: "10m", late: "0s" };

/** A ring after one step, as the controller takes it. */
function stepped(ring: Keyring, now: number): Keyring {
  const step = keyringStep(ring, now, rotation);
  if (step.do === "add") return addKey(ring, now, systemRandom, rotation);
  return step.do === "drop" ? neededKeys(ring, now, rotation) : ring;
}

describe("rotation", () => {
  test("a new key waits until it has settled, and the old one signs till then", () => {
    const first = addKey([], start, systemRandom);
    const both = addKey(first, start + 7 * day, systemRandom);
    expect(signingKey(first, start)?.id).toBe(1);
    expect(signingKey(both, start + 7 * day + 10 * minute - 1, rotation)?.id).toBe(1);
    expect(signingKey(both, start + 7 * day + 10 * minute, rotation)?.id).toBe(2);
  });

  test("goes by itself: add, wait, drop, and the last key stays", () => {
    let ring: Keyring = [];
    const seen: string[] = [];
    let now = start;
    for (let turn = 0; turn < 6; turn++) {
      const step = keyringStep(ring, now, rotation);
      seen.push(step.do === "wait" ? `wait ${(step.until - now) / minute}` : step.do);
      ring = stepped(ring, now);
      if (step.do === "wait") now = step.until;
    }
    const needed = 24 * 60 + 10 + 10;
    expect(seen).toEqual([
      "add",
      `wait ${7 * 24 * 60}`,
      "add",
      `wait ${needed}`,
      "drop",
      `wait ${7 * 24 * 60 - needed}`,
    ]);
    expect(ring.map(({ id }) => id)).toEqual([2]);
  });

  test("every token verifies until it expires, on every gateway that is at most the settling time behind", () => {
    const event = fc.record({
      after: fc.oneof(fc.integer({ min: 1, max: 20 * minute }), fc.integer({ min: hour, max: 2 * day })),
      ttl: fc.integer({ min: 1, max: day }),
      behind: fc.integer({ min: 0, max: 10 * minute }),
    });
    fc.assert(
      fc.property(fc.array(event, { minLength: 20, maxLength: 60 }), (events) => {
        const history: { at: number; ring: Keyring }[] = [
          { at: start, ring: addKey([], start, systemRandom) },
        ];
        const ringAt = (at: number) =>
          history.findLast((one) => one.at <= at)?.ring ?? history[0]?.ring ?? [];
        const issued: IssuedToken[] = [];
        let now = start;
        for (const { after, ttl, behind } of events) {
          now += after;
          for (let ring = ringAt(now); ; ring = ringAt(now)) {
            const next = stepped(ring, now);
            if (next === ring) break;
            history.push({ at: now, ring: next });
          }
          issued.push(
            issueToken(ringAt(now), { allocationId: newAllocationId(systemRandom), now, ttl }, rotation),
          );
          const gateway = ringAt(now - behind);
          const wrong = issued.filter(
            ({ token, expiresAt }) => (verifyToken(gateway, token, now).is === "valid") !== now < expiresAt,
          );
          expect(wrong).toEqual([]);
        }
        expect(Math.max(...history.map(({ ring }) => ring.length))).toBeLessThanOrEqual(3);
      }),
      { numRuns: 50, endOnFailure: true },
    );
  });

  test("ids go round, and never meet one that is still in the ring", () => {
    const last = { id: LARGEST_KEY_ID, addedAt: start, secret: new Uint8Array(32) };
    const kept = { ...last, id: 1 };
    expect(addKey([kept, last], start + 1, systemRandom).map(({ id }) => id)).toEqual([1, LARGEST_KEY_ID, 2]);
  });
});

test("a pool's keys are the same every time, and tell nothing of another pool's or of the cluster's", () => {
  const ring = addKey([], start, seededRandom(1));
  const of = (namespace: string, name: string) =>
    Buffer.from(poolKeyring(ring, { namespace, name })[0]?.secret ?? []).toString("hex");
  expect(of("a", "b")).toBe(of("a", "b"));
  const all = [of("a", "b"), of("a", "c"), of("b", "b"), Buffer.from(ring[0]?.secret ?? []).toString("hex")];
  expect(new Set(all).size).toBe(4);
});

describe("what a pool's gateways have", () => {
  const pool = { namespace: "builds", name: "ci" };
  const first = addKey([], start, systemRandom);
  const both = addKey(first, start + 30 * day, systemRandom);

  test("is what the cluster has, where the controller brings each key in time", () => {
    expect(arrivingKeyring(first, pool, [], start + day)).toEqual(poolKeyring(first, pool));
    const now = start + 30 * day;
    expect(arrivingKeyring(both, pool, poolKeyring(first, pool), now)).toEqual(poolKeyring(both, pool));
  });

  test("has a key that comes late settle first, and go on from there", () => {
    const late = start + 33 * day;
    const ring = arrivingKeyring(both, pool, poolKeyring(first, pool), late);
    expect(ring.map(({ addedAt }) => addedAt)).toEqual([start, late]);
    expect(signingKey(ring, late + 10 * minute - 1)?.id).toBe(1);
    const later = arrivingKeyring(both, pool, ring, late + day);
    expect(later).toEqual(ring);
    expect(signingKey(later, late + 10 * minute)?.id).toBe(2);
    // What the old key has signed meanwhile holds for a day, and the cluster still has that key.
    expect(neededKeys(both, late + day + 10 * minute)).toEqual(both);
  });

  test("holds no foreign key, and none of before the cluster's were made again", () => {
    const foreign = addKey([], start + day, seededRandom(9));
    expect(arrivingKeyring(first, pool, foreign, start + 2 * day)).toEqual(poolKeyring(first, pool));
    const future = poolKeyring(first, pool).map((one) => ({ ...one, addedAt: start + 90 * day }));
    expect(arrivingKeyring(first, pool, future, start + day)[0]?.addedAt).toBe(start + day);
  });

  test("has no key sign again that was replaced, where the Secret had lost it", () => {
    const now = start + 31 * day;
    const [, second] = poolKeyring(both, pool);
    const ring = arrivingKeyring(both, pool, second ? [second] : [], now);
    for (const at of [now, now + 10 * minute, now + 5 * day]) expect(signingKey(ring, at)?.id).toBe(2);
  });

  test("signs with the newest key in the end, and with none that gateways have not had for 10 minutes", () => {
    const three = addKey(both, start + 34 * day, systemRandom);
    const own = poolKeyring(three, pool);
    const written = fc.array(
      fc.record({
        index: fc.nat({ max: 2 }),
        addedAt: fc.integer({ min: start - day, max: start + 60 * day }),
      }),
    );
    const look = fc.record({
      after: fc.oneof(fc.integer({ min: 1_000, max: 20 * minute }), fc.integer({ min: hour, max: 2 * day })),
      /** What somebody, or a replica that was the leader before, has put in its place. */
      foreign: fc.option(written, { freq: 4, nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(look, { minLength: 2, maxLength: 12 }), (looks) => {
        let present = arrivingKeyring(both, pool, poolKeyring(first, pool), start + 30 * day);
        let now = start + 34 * day;
        /** Since when each key is in the Secret without a break, by looks of the controller. */
        let since = new Map<number, number>(present.map(({ id }) => [id, start + 30 * day]));
        for (const { after, foreign } of looks) {
          now += after;
          if (foreign) {
            const indexes = new Map(foreign.map(({ index, addedAt }) => [index, addedAt]));
            present = [...indexes].flatMap(([index, addedAt]) => {
              const key = own[index];
              return key ? [{ ...key, addedAt }] : [];
            });
            // What they wrote is theirs to answer for; a key that they left out comes again.
            since = new Map(present.map(({ id, addedAt }) => [id, Math.min(now, addedAt)]));
          }
          const isFirst = present.length === 0;
          present = arrivingKeyring(three, pool, present, now);
          since = new Map(present.map(({ id, addedAt }) => [id, since.get(id) ?? (isFirst ? addedAt : now)]));
          expect(present.map(({ id }) => id)).toEqual([1, 2, 3]);
          expect(readKeyring(writeKeyring(present))).toEqual(present);
          const signer = signingKey(present, now);
          const hadForMs = now - (since.get(signer?.id ?? 0) ?? now);
          expect(signer?.id === 1 || hadForMs >= 10 * minute).toBe(true);
        }
        const settled = arrivingKeyring(three, pool, present, now + 1);
        expect(signingKey(settled, now + 1 + 10 * minute)?.id).toBe(3);
      }),
    );
  });
});

describe("in a Secret", () => {
  test("a ring comes back as it was", () => {
    const ring = addKey(addKey([], start, systemRandom), start + day, systemRandom);
    expect(readKeyring(writeKeyring(ring))).toEqual(ring);
  });

  const good = { id: 1, addedAt: "2026-01-01T00:00:00.000Z", secret: "c2VjcmV0".repeat(4).padEnd(44, "=") };
  const secret = Buffer.alloc(32, 7).toString("base64");
  test.for<[string, unknown]>([
    ["not JSON", "]"],
    ["the list", []],
    ["the list", {}],
    ["0.id", [{ ...good, secret, id: 0 }]],
    ["0.id", [{ ...good, secret, id: 65_536 }]],
    ["0.addedAt", [{ ...good, secret, addedAt: "yesterday" }]],
    ["0.secret", [{ ...good, secret: Buffer.alloc(31, 7).toString("base64") }]],
    ["0.secret", [{ ...good, secret: "hunter2hunter2!" }]],
    [
      "two keys have the same id",
      [
        { ...good, secret },
        { ...good, secret },
      ],
    ],
  ])("a fault is named: %s", ([words, content]) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    let message = "";
    try {
      readKeyring(text);
    } catch (error) {
      expect(error).toBeInstanceOf(KeyringError);
      message = (error as Error).message;
    }
    expect(message).toContain(words);
    expect(message).not.toContain("hunter2");
    expect(message).not.toContain(secret);
  });
});
