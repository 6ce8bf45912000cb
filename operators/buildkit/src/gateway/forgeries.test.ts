import { createHmac } from "node:crypto";
import { type KeyPair, loadAuthority } from "@windlass/certificates";
import { ManualClock, systemRandom } from "@windlass/clock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  allocationCertificate,
  gatewayCertificate,
  gatewayNames,
  poolUri,
  workerCertificate,
} from "../certificates/index.ts";
import { addKey, issueToken, newAllocationId, poolKeyring, tokenNames } from "../tokens/index.ts";
import { newRing, pool, World } from "./world.fixture.ts";

/** Certificates and tokens that must not open anything, all tried with a real handshake and a real call. */

const hour = 3_600_000;
let world: World;
let good: { readonly token: string; readonly pair: KeyPair };

beforeAll(async () => {
  world = await World.start({ limits: { lookupLag: 0 } });
  const worker = await world.worker();
  const issued = world.pki.token();
  world.table.set(issued.allocation, { at: "ready", worker: worker.address });
  good = { token: issued.token, pair: world.certificate(issued) };
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** A certificate of the pool's own authority with any token in it. */
function carrying(token: string): KeyPair {
  return world.certificate({ token, expiresAt: Date.now() + hour });
}

/** A certificate of the pool's own authority with any names in it. */
function named(commonName: string, uris: readonly string[] = []): KeyPair {
  return world.pki.clients.authority.issue({ commonName, uris, usages: ["client"], validForMs: hour });
}

/** The good token with some bytes changed. */
function altered(change: (bytes: Buffer) => void): KeyPair {
  const bytes = Buffer.from(good.token, "base64url");
  change(bytes);
  return carrying(bytes.toString("base64url"));
}

/** A token of any content, signed with the pool's own key. */
function signed(change: (bytes: Buffer) => void): KeyPair {
  return altered((bytes) => {
    change(bytes);
    const tag = createHmac("sha256", world.pki.keys[0]?.secret ?? "")
      .update(bytes.subarray(0, 23))
      .digest();
    tag.copy(bytes, 23, 0, 16);
  });
}

function tokenOf(keys: Parameters<typeof issueToken>[0], now = Date.now()): string {
  return issueToken(keys, { allocationId: newAllocationId(systemRandom), now }).token;
}

test("the certificate that the forgeries are made from opens the way to the worker", async () => {
  expect(await world.call(good.pair)).toMatchObject({ status: 0, worker: "ci-worker-1", body: "ping" });
  expect(await world.call(signed(() => undefined))).toMatchObject({ status: 0, worker: "ci-worker-1" });
});

type Forgery = readonly [what: string, make: () => KeyPair | undefined, status: number, message: RegExp];

const certificates: readonly Forgery[] = [
  ["no certificate", () => undefined, 16, /^no client certificate was sent/],
  ["one of another authority", () => foreign("foreign"), 16, /not signed by this pool's authority/],
  ["one of another authority with the same name", () => foreign("clients"), 16, /not signed by this pool's/],
  ["another authority's own", () => ({ ...newRing("clients").authority }), 16, /not signed by this pool's/],
  [
    "the gateway's own",
    () =>
      gatewayCertificate(world.pki.clients.authority, { pool, names: gatewayNames(pool), validForMs: hour }),
    16,
    /is not for clients/,
  ],
  [
    "the gateway's own for workers",
    () => world.pki.credentials().workers.pair,
    16,
    /not signed by this pool's/,
  ],
  ["a worker's own", () => workerOwn(), 16, /not signed by this pool's authority/],
  ["a client's of the workers' authority", () => ofWorkers(), 16, /not signed by this pool's authority/],
  ["one that has expired", () => issuedAt(-2 * hour, hour), 16, /has expired/],
  ["one that expired years ago", () => issuedAt(-5 * 365 * 24 * hour, hour), 16, /has expired/],
  ["one that is not valid yet", () => issuedAt(2 * hour, hour), 16, /is not valid yet/],
  ["one of another authority with a client's in its chain", () => chained(), 16, /not signed by this pool's/],
  ["one for another use", () => ofUsage("server"), 16, /is not for clients/],
  ["one without a token", () => named("jane"), 16, /carries no allocation token/],
  ["one with a token for a name", () => named(good.token), 16, /carries no allocation token/],
  ["a prefix in other letters", () => named(`Alloc:${good.token}`), 16, /carries no allocation token/],
  ["a prefix with a space before", () => named(` alloc:${good.token}`), 16, /carries no allocation token/],
  [
    "a URI of another kind",
    () => named("jane", [`buildkit://token/${good.token}`]),
    16,
    /carries no allocation/,
  ],
  [
    "a URI in other letters",
    () => named("jane", [`BuildKit://allocation/${good.token}`]),
    16,
    /carries no alloc/,
  ],
  [
    "another token in the URI than in the name",
    () => named(`alloc:${good.token}`, [tokenNames(tokenOf(world.pki.keys)).uri]),
    16,
    /several allocation tokens/,
  ],
  [
    "two tokens in URIs",
    () => named("jane", [tokenNames(good.token).uri, tokenNames(tokenOf(world.pki.keys)).uri]),
    16,
    /several allocation tokens/,
  ],
  [
    "the right token for another pool",
    () => named(`alloc:${good.token}`, [poolUri({ namespace: "builds", name: "other" })]),
    7,
    /is for pool builds\/other, and this is the gateway of pool builds\/ci/,
  ],
  [
    "the right token for the same pool elsewhere",
    () => named(`alloc:${good.token}`, [poolUri({ namespace: "other", name: "ci" })]),
    7,
    /is for pool other\/ci/,
  ],
  [
    "the right token for two pools",
    () => named(`alloc:${good.token}`, [poolUri(pool), poolUri({ namespace: "other", name: "ci" })]),
    7,
    /is for pool other\/ci/,
  ],
];

const tokens: readonly Forgery[] = [
  ["no token after the prefix", () => named("alloc:"), 16, /token is malformed/],
  ["one character less", () => carrying(good.token.slice(0, -1)), 16, /token is malformed/],
  ["one character more", () => carrying(`${good.token}A`), 16, /token is malformed/],
  ["padding", () => carrying(`${good.token}=`), 16, /token is malformed/],
  ["a space after it", () => named(`alloc:${good.token} `), 16, /token is malformed/],
  ["a path after it", () => named("jane", [`${tokenNames(good.token).uri}/x`]), 16, /token is malformed/],
  ["a query after it", () => named("jane", [`${tokenNames(good.token).uri}?x`]), 16, /token is malformed/],
  [
    "an escaped character",
    () => named("jane", [`buildkit://allocation/%41${good.token.slice(1)}`]),
    16,
    /malformed/,
  ],
  ["letters that look alike", () => named(`alloc:\u0410${good.token.slice(1)}`), 16, /token is malformed/],
  ["letters of the other case", () => carrying(otherCase(good.token)), 16, /malformed|key|signature/],
  ["the token of the original's form", () => named(`alloc:${systemToken(64)}`), 16, /token is malformed/],
  ["random bytes", () => carrying(systemToken(39)), 16, /malformed|key|signature/],
  ["version 0", () => signed((bytes) => bytes.writeUInt8(0, 0)), 16, /token is malformed/],
  ["version 2", () => signed((bytes) => bytes.writeUInt8(2, 0)), 16, /token is malformed/],
  ["key 0", () => altered((bytes) => bytes.writeUInt16BE(0, 1)), 16, /key that this gateway does not know/],
  ["a key that is not there", () => altered((bytes) => bytes.writeUInt16BE(77, 1)), 16, /does not know/],
  ["a later expiry", () => altered((bytes) => bytes.writeUInt32BE(0xffff_fff0, 3)), 16, /does not verify/],
  [
    "another allocation",
    () => altered((bytes) => bytes.set(newAllocationId(systemRandom), 7)),
    16,
    /does not verify/,
  ],
  ["no signature", () => altered((bytes) => bytes.fill(0, 23)), 16, /does not verify/],
  [
    "one bit of the signature changed",
    () => altered((bytes) => bytes.writeUInt8(bytes.readUInt8(38) ^ 1, 38)),
    16,
    /does not verify/,
  ],
  [
    "the signature of another token",
    () => altered((bytes) => Buffer.from(tokenOf(world.pki.keys), "base64url").copy(bytes, 23, 23)),
    16,
    /does not verify/,
  ],
  [
    "one of another cluster",
    () => carrying(tokenOf(poolKeyring(addKey([], Date.now(), systemRandom), pool))),
    16,
    /does not verify/,
  ],
  [
    "one of another pool",
    () => carrying(tokenOf(poolKeyring(world.pki.clusterKeys, { namespace: "builds", name: "other" }))),
    16,
    /does not verify/,
  ],
  [
    "one signed with the cluster's key",
    () => carrying(tokenOf(world.pki.clusterKeys)),
    16,
    /does not verify/,
  ],
  [
    "one that expired a second ago",
    () => carrying(tokenOf(world.pki.keys, Date.now() - hour - 1_000)),
    16,
    /allocation expired at 20/,
  ],
  [
    "one that expired a year ago",
    () => carrying(tokenOf(world.pki.keys, Date.now() - 365 * 24 * hour)),
    16,
    /allocation expired at 20/,
  ],
  [
    "one that was never granted",
    () => carrying(tokenOf(world.pki.keys)),
    16,
    /has been released, or its worker is gone/,
  ],
  ["one that was released", () => released(), 16, /has been released, or its worker is gone/],
  ["one that was revoked", () => withRoute({ at: "revoked", reason: "quota" }), 16, /was revoked \(quota\)/],
  [
    "one whose worker is lost",
    () => withRoute({ at: "lost", worker: "w", reason: "evicted" }),
    9,
    /worker w is lost \(evicted\)/,
  ],
];

function foreign(name: string): KeyPair {
  return allocationCertificate(newRing(name).authority, {
    pool,
    issued: { token: good.token, expiresAt: Date.now() + hour },
  });
}

function workerOwn(): KeyPair {
  const worker = { namespace: pool.namespace, name: "ci-worker-1" };
  return workerCertificate(world.pki.workers.authority, { worker, pool, validForMs: hour });
}

function ofWorkers(): KeyPair {
  return allocationCertificate(world.pki.workers.authority, {
    pool,
    issued: { token: good.token, expiresAt: Date.now() + hour },
  });
}

function issuedAt(sinceNow: number, validForMs: number): KeyPair {
  const { certificate, key } = world.pki.clients.authority;
  const clock = new ManualClock(Date.now() + sinceNow);
  const { commonName, uri } = tokenNames(good.token);
  return loadAuthority(certificate, key, { clock }).issue({
    commonName,
    uris: [uri],
    usages: ["client"],
    validForMs,
  });
}

function chained(): KeyPair {
  const { certificate, key } = foreign("clients");
  return { certificate: `${certificate}${good.pair.certificate}`, key };
}

function tokenNamesOf() {
  const { commonName, uri } = tokenNames(good.token);
  return { commonName, uris: [uri] };
}

function ofUsage(usage: "server"): KeyPair {
  return world.pki.clients.authority.issue({ ...tokenNamesOf(), usages: [usage], validForMs: hour });
}

function otherCase(token: string): string {
  return token
    .split("")
    .map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase()))
    .join("");
}

function systemToken(length: number): string {
  return Buffer.from(systemRandom.bytes(length)).toString("base64url");
}

function released(): KeyPair {
  const issued = world.pki.token();
  const [worker] = world.workers;
  if (!worker) throw new Error("a worker");
  world.table.set(issued.allocation, { at: "ready", worker: worker.address });
  world.table.set(issued.allocation, { at: "unknown" });
  return world.certificate(issued);
}

function withRoute(route: Parameters<World["table"]["set"]>[1]): KeyPair {
  const issued = world.pki.token();
  world.table.set(issued.allocation, route);
  return world.certificate(issued);
}

describe.each([
  ["certificates", certificates],
  ["tokens", tokens],
])("%s that are refused", (_, forgeries) => {
  test.for(forgeries)("%s", async ([, make, status, message]) => {
    const before = world
      .metric("buildkit_gateway_connections_total")
      .filter((line) => line.includes("success"));
    const answer = await world.call(make());
    expect(answer).toMatchObject({ status, worker: undefined });
    expect(answer.message).toMatch(message);
    const after = world
      .metric("buildkit_gateway_connections_total")
      .filter((line) => line.includes("success"));
    expect(after).toEqual(before);
    expect(answer.message).not.toContain(good.token);
  });
});

test("there are at least forty of them", () => {
  expect(certificates.length + tokens.length).toBeGreaterThanOrEqual(40);
});
