import { X509Certificate } from "node:crypto";
import { createAuthority, inspect, splitBundle } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AuthorityRing,
  type AuthorityRotation,
  addAuthority,
  authorityStep,
  neededAuthorities,
  signingAuthority,
  trustBundle,
} from "./authorities.ts";
import {
  AuthoritySecretError,
  authorityDataKeys,
  readAuthorities,
  writeAuthorities,
} from "./authority-secret.ts";

const hour = 3_600_000;
const day = 24 * hour;
const rotation: AuthorityRotation = {
  lifetime: "40d",
  rotateEvery: "20d",
  settle: "2d",
  longestCertificate: "10d",
};

function stepped(ring: AuthorityRing, clock: ManualClock): AuthorityRing {
  const step = authorityStep(ring, clock.now(), rotation);
  if (step.do === "add") return addAuthority(ring, "clients", clock, rotation);
  return step.do === "drop" ? neededAuthorities(ring, clock.now(), rotation) : ring;
}

/** Whether a leaf chains to any certificate of a bundle, and holds. */
function isTrusted(leaf: string, bundle: string, now: number): boolean {
  const certificate = new X509Certificate(leaf);
  return splitBundle(bundle).some((pem) => {
    const authority = new X509Certificate(pem);
    const isWithin = now <= authority.validToDate.getTime();
    return isWithin && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
  });
}

describe("rotation", () => {
  test("goes by itself: add, wait, add, drop the key, drop the authority", async () => {
    const clock = new ManualClock();
    let ring: AuthorityRing = [];
    const seen: string[] = [];
    for (let turn = 0; turn < 9; turn++) {
      const step = authorityStep(ring, clock.now(), rotation);
      ring = stepped(ring, clock);
      const keys = ring.map(({ key }) => (key === undefined ? "trusted" : "with key")).join(", ");
      seen.push(step.do === "wait" ? `wait ${(step.until - clock.now()) / hour}h` : `${step.do}: ${keys}`);
      if (step.do === "wait") await clock.advance(step.until - clock.now());
    }
    const minutes10 = 10 / 60;
    expect(seen).toEqual([
      "add: with key",
      "wait 480h",
      "add: with key, with key",
      `wait ${48 + minutes10}h`,
      "drop: trusted, with key",
      "wait 240h",
      "drop: with key",
      `wait ${480 - 288 - minutes10}h`,
      "add: with key, with key",
    ]);
  });

  test("every certificate is trusted until it ends, by everyone who is at most the settling time behind", async () => {
    const event = fc.record({
      after: fc.oneof(fc.integer({ min: 1, max: 6 * hour }), fc.integer({ min: hour, max: 12 * day })),
      validFor: fc.integer({ min: hour, max: 10 * day }),
      behind: fc.integer({ min: 0, max: 2 * day }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 15 }), async (events) => {
        const clock = new ManualClock();
        const history = [{ at: clock.now(), ring: addAuthority([], "clients", clock, rotation) }];
        const ringAt = (at: number) =>
          history.findLast((one) => one.at <= at)?.ring ?? history[0]?.ring ?? [];
        const leaves: string[] = [];
        for (const { after, validFor, behind } of events) {
          // A controller that is up takes every step when it is due.
          const until = clock.now() + after;
          for (;;) {
            const step = authorityStep(ringAt(clock.now()), clock.now(), rotation);
            if (step.do === "wait" && step.until > until) break;
            if (step.do === "wait") await clock.advance(step.until - clock.now());
            else history.push({ at: clock.now(), ring: stepped(ringAt(clock.now()), clock) });
          }
          await clock.advance(until - clock.now());
          const now = clock.now();
          const signer = signingAuthority(ringAt(now), clock, rotation);
          const leaf = signer?.issue({ commonName: "x", usages: ["client"], validFor });
          if (!leaf) throw new Error("no authority can sign");
          expect(inspect(leaf.certificate).notAfter).toBe(Math.floor((now + validFor) / 1_000) * 1_000);
          leaves.push(leaf.certificate);
          const bundle = trustBundle(ringAt(now - behind));
          const live = leaves.filter((pem) => now <= inspect(pem).notAfter);
          expect(live.filter((pem) => !isTrusted(pem, bundle, now))).toEqual([]);
        }
      }),
      { numRuns: 15, endOnFailure: true },
    );
  }, 60_000);

  test("a ring that has expired gets a new authority at once, and it signs at once", async () => {
    const clock = new ManualClock();
    const old = addAuthority([], "clients", clock, rotation);
    await clock.advance(40 * day);
    expect(signingAuthority(old, clock, rotation)).toBeUndefined();
    expect(authorityStep(old, clock.now(), rotation)).toEqual({ do: "add" });
    const ring = addAuthority(old, "clients", clock, rotation);
    expect(signingAuthority(ring, clock, rotation)?.certificate).toBe(ring.at(-1)?.certificate);
  });

  test("an authority that was taken over is replaced in time for its own end", async () => {
    const clock = new ManualClock();
    const { certificate, key } = createAuthority({ commonName: "original", validFor: 30 * day, clock });
    const ring: AuthorityRing = [{ addedAt: clock.now(), certificate, key }];
    expect(authorityStep(ring, clock.now(), rotation)).toEqual({ do: "wait", until: clock.now() + 18 * day });
    await clock.advance(18 * day);
    expect(authorityStep(ring, clock.now(), rotation)).toEqual({ do: "add" });
  });

  test("lifetimes that leave no room for the overlap are refused", () => {
    const rules: AuthorityRotation = { ...rotation, lifetime: "31d" };
    expect(() => authorityStep(addAuthority([], "x", new ManualClock(), rotation), 0, rules)).toThrow(
      "authorities: lifetime (31d) must be at least rotateEvery (20d), settle (2d) and longestCertificate (10d) together",
    );
  });

  test("the defaults leave room", () => {
    const clock = new ManualClock();
    const ring = addAuthority([], "clients", clock);
    expect(authorityStep(ring, clock.now())).toEqual({ do: "wait", until: clock.now() + 2_900 * day });
    expect(inspect(ring[0]?.certificate ?? "").notAfter).toBe(clock.now() + 3_650 * day);
  });
});

describe("in a Secret", () => {
  const clock = new ManualClock(Date.now());
  const ring = addAuthority(addAuthority([], "clients", clock), "clients", clock);
  const [first] = ring;
  if (!first?.key) throw new Error("an authority with its key");

  test("a ring comes back as it was, with a bundle beside it for those who verify", () => {
    const data = writeAuthorities(ring);
    expect(readAuthorities(data)).toEqual(ring);
    expect(splitBundle(data[authorityDataKeys.bundle] ?? "").length).toBe(2);
    expect(data[authorityDataKeys.bundle]).not.toContain("PRIVATE KEY");
  });

  test("the original's authority is taken over", () => {
    const original = { "ca.crt": first.certificate, "ca.key": first.key ?? "" };
    const [taken] = readAuthorities(original);
    expect(taken).toEqual({
      addedAt: inspect(first.certificate).notBefore,
      certificate: first.certificate,
      key: first.key,
    });
  });

  const leaf = signingAuthority(ring, clock)?.issue({
    commonName: "x",
    usages: ["client"],
    validFor: hour,
  });
  const entry = { addedAt: new Date().toISOString(), certificate: first.certificate, key: first.key };
  const inRing = (...entries: unknown[]) => ({ "authorities.json": JSON.stringify(entries) });
  const other = createOther();
  function createOther() {
    const [one] = addAuthority([], "other", clock);
    return one?.key ?? "";
  }
  test.for<[string, Record<string, string>]>([
    ["neither", {}],
    ["neither", { "ca.crt": first.certificate }],
    ["ca.crt: not an X.509 certificate", { "ca.crt": "", "ca.key": first.key }],
    ["ca.crt: the key does not belong", { "ca.crt": first.certificate, "ca.key": other }],
    ["not JSON", { "authorities.json": `[${first.key}` }],
    ["the list", inRing()],
    ["0.addedAt", inRing({ ...entry, addedAt: "once" })],
    ["authorities.json: 0: the key does not belong", inRing({ ...entry, key: other })],
    [
      "authorities.json: 0: not an authority",
      inRing({ ...entry, certificate: leaf?.certificate, key: undefined }),
    ],
    ["authorities.json: 1: not an unencrypted private key", inRing(entry, { ...entry, key: "-----BEGIN" })],
  ])("a fault is named, and no key with it: %s", ([words, data]) => {
    let error: unknown;
    try {
      readAuthorities(data);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(AuthoritySecretError);
    expect((error as Error).message).toContain(words);
    for (const key of [first.key, other]) {
      const [, line = "?"] = key?.split("\n") ?? [];
      expect(JSON.stringify([(error as Error).message, (error as Error).stack])).not.toContain(line);
    }
  });
});
