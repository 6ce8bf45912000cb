import { createHmac } from "node:crypto";
import { type Authority, type KeyPair, loadAuthority } from "@windlass/certificates";
import { ManualClock, systemRandom } from "@windlass/clock";
import {
  allocationCertificate,
  gatewayCertificate,
  gatewayClientCertificate,
  gatewayNames,
  poolUri,
  workerCertificate,
} from "../certificates/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import {
  addKey,
  issueToken,
  type Keyring,
  newAllocationId,
  poolKeyring,
  tokenNames,
} from "../tokens/index.ts";
import { newRing } from "./environment.fixture.ts";

/** What forgeries are made from: all that a pool has, and an allocation that counts. */
export interface ForgeryInit {
  readonly pool: PoolName;
  readonly clients: Authority;
  readonly workers: Authority;
  readonly clusterKeys: Keyring;
  readonly keys: Keyring;
  /** The name of a worker of the pool. */
  readonly worker: string;
  readonly token: string;
  readonly pair: KeyPair;
}

/** What a client shows that must be refused, and how it is. */
export interface Forgery {
  readonly what: string;
  readonly make: () => KeyPair | undefined;
  /** Of gRPC. */
  readonly status: number;
  readonly message: RegExp;
}

const hour = 3_600_000;

/** A token of any content, signed with the pool's own key, from one that counts. */
export function signedToken(
  { keys, token }: Pick<ForgeryInit, "keys" | "token">,
  change: (bytes: Buffer) => void,
): string {
  const bytes = Buffer.from(token, "base64url");
  change(bytes);
  const tag = createHmac("sha256", keys[0]?.secret ?? "")
    .update(bytes.subarray(0, 23))
    .digest();
  tag.copy(bytes, 23, 0, 16);
  return bytes.toString("base64url");
}

/** Certificates and tokens that must not open anything. */
export function forgeries(from: ForgeryInit): readonly Forgery[] {
  const { pool } = from;
  const here = poolText(pool).replace("/", "\\/");
  const other = { namespace: pool.namespace, name: `${pool.name}-other` };
  const elsewhere = { namespace: `${pool.namespace}-other`, name: pool.name };

  /** A certificate of the pool's own authority with any token in it. */
  const carrying = (token: string) =>
    allocationCertificate(from.clients, { pool, issued: { token, expiresAt: Date.now() + hour } });
  /** A certificate of the pool's own authority with any names in it. */
  const named = (commonName: string, uris: readonly string[] = []) =>
    from.clients.issue({ commonName, uris, usages: ["client"], validFor: hour });
  /** The token that counts with some bytes changed. */
  const altered = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(from.token, "base64url");
    change(bytes);
    return carrying(bytes.toString("base64url"));
  };
  const signed = (change: (bytes: Buffer) => void) => carrying(signedToken(from, change));
  const tokenOf = (keys: Keyring, now = Date.now()) =>
    issueToken(keys, { allocationId: newAllocationId(systemRandom), now }).token;

  function foreign(name: string): KeyPair {
    return allocationCertificate(newRing(name).authority, {
      pool,
      issued: { token: from.token, expiresAt: Date.now() + hour },
    });
  }

  function workerOwn(): KeyPair {
    const worker = { namespace: pool.namespace, name: from.worker };
    return workerCertificate(from.workers, { worker, pool, validFor: hour });
  }

  function ofWorkers(): KeyPair {
    return allocationCertificate(from.workers, {
      pool,
      issued: { token: from.token, expiresAt: Date.now() + hour },
    });
  }

  function issuedAt(sinceNow: number, validFor: number): KeyPair {
    const { certificate, key } = from.clients;
    const clock = new ManualClock(Date.now() + sinceNow);
    const { commonName, uri } = tokenNames(from.token);
    return loadAuthority(certificate, key, { clock }).issue({
      commonName,
      uris: [uri],
      usages: ["client"],
      validFor,
    });
  }

  function chained(): KeyPair {
    const { certificate, key } = foreign("clients");
    return { certificate: `${certificate}${from.pair.certificate}`, key };
  }

  function tokenNamesOf() {
    const { commonName, uri } = tokenNames(from.token);
    return { commonName, uris: [uri] };
  }

  function ofUsage(usage: "server"): KeyPair {
    return from.clients.issue({ ...tokenNamesOf(), usages: [usage], validFor: hour });
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

  const all: readonly (readonly [Forgery["what"], Forgery["make"], Forgery["status"], Forgery["message"]])[] =
    [
      ["no certificate", () => undefined, 16, /^no client certificate was sent/],
      ["one of another authority", () => foreign("foreign"), 16, /not signed by this pool's authority/],
      [
        "one of another authority with the same name",
        () => foreign("clients"),
        16,
        /not signed by this pool's/,
      ],
      [
        "another authority's own",
        () => ({ ...newRing("clients").authority }),
        16,
        /not signed by this pool's/,
      ],
      [
        "the gateway's own",
        () => gatewayCertificate(from.clients, { pool, names: gatewayNames(pool), validFor: hour }),
        16,
        /is not for clients/,
      ],
      [
        "the gateway's own for workers",
        () => gatewayClientCertificate(from.workers, { pool, validFor: hour }),
        16,
        /not signed by this pool's/,
      ],
      ["a worker's own", () => workerOwn(), 16, /not signed by this pool's authority/],
      ["a client's of the workers' authority", () => ofWorkers(), 16, /not signed by this pool's authority/],
      ["one that has expired", () => issuedAt(-2 * hour, hour), 16, /has expired/],
      ["one that expired years ago", () => issuedAt(-5 * 365 * 24 * hour, hour), 16, /has expired/],
      ["one that is not valid yet", () => issuedAt(2 * hour, hour), 16, /is not valid yet/],
      [
        "one of another authority with a client's in its chain",
        () => chained(),
        16,
        /not signed by this pool's/,
      ],
      ["one for another use", () => ofUsage("server"), 16, /is not for clients/],
      ["one without a token", () => named("jane"), 16, /carries no allocation token/],
      ["one with a token for a name", () => named(from.token), 16, /carries no allocation token/],
      ["a prefix in other letters", () => named(`Alloc:${from.token}`), 16, /carries no allocation token/],
      [
        "a prefix with a space before",
        () => named(` alloc:${from.token}`),
        16,
        /carries no allocation token/,
      ],
      [
        "a URI of another kind",
        () => named("jane", [`buildkit://token/${from.token}`]),
        16,
        /carries no allocation/,
      ],
      [
        "a URI in other letters",
        () => named("jane", [`BuildKit://allocation/${from.token}`]),
        16,
        /carries no alloc/,
      ],
      [
        "another token in the URI than in the name",
        () => named(`alloc:${from.token}`, [tokenNames(tokenOf(from.keys)).uri]),
        16,
        /several allocation tokens/,
      ],
      [
        "two tokens in URIs",
        () => named("jane", [tokenNames(from.token).uri, tokenNames(tokenOf(from.keys)).uri]),
        16,
        /several allocation tokens/,
      ],
      [
        "the right token for another pool",
        () => named(`alloc:${from.token}`, [poolUri(other)]),
        7,
        new RegExp(`is for pool ${here}-other, and this is the gateway of pool ${here}`),
      ],
      [
        "the right token for the same pool elsewhere",
        () => named(`alloc:${from.token}`, [poolUri(elsewhere)]),
        7,
        /is for pool .*-other\//,
      ],
      [
        "the right token for two pools",
        () => named(`alloc:${from.token}`, [poolUri(pool), poolUri(elsewhere)]),
        7,
        /is for pool .*-other\//,
      ],

      ["no token after the prefix", () => named("alloc:"), 16, /token is malformed/],
      ["one character less", () => carrying(from.token.slice(0, -1)), 16, /token is malformed/],
      ["one character more", () => carrying(`${from.token}A`), 16, /token is malformed/],
      ["padding", () => carrying(`${from.token}=`), 16, /token is malformed/],
      ["a space after it", () => named(`alloc:${from.token} `), 16, /token is malformed/],
      ["a path after it", () => named("jane", [`${tokenNames(from.token).uri}/x`]), 16, /token is malformed/],
      [
        "a query after it",
        () => named("jane", [`${tokenNames(from.token).uri}?x`]),
        16,
        /token is malformed/,
      ],
      [
        "an escaped character",
        () => named("jane", [`buildkit://allocation/%41${from.token.slice(1)}`]),
        16,
        /malformed/,
      ],
      [
        "letters that look alike",
        () => named(`alloc:\u0410${from.token.slice(1)}`),
        16,
        /token is malformed/,
      ],
      ["letters of the other case", () => carrying(otherCase(from.token)), 16, /malformed|key|signature/],
      ["the token of the original's form", () => named(`alloc:${systemToken(64)}`), 16, /token is malformed/],
      ["random bytes", () => carrying(systemToken(39)), 16, /malformed|key|signature/],
      ["version 0", () => signed((bytes) => bytes.writeUInt8(0, 0)), 16, /token is malformed/],
      ["version 2", () => signed((bytes) => bytes.writeUInt8(2, 0)), 16, /token is malformed/],
      [
        "key 0",
        () => altered((bytes) => bytes.writeUInt16BE(0, 1)),
        16,
        /key that this gateway does not know/,
      ],
      ["a key that is not there", () => altered((bytes) => bytes.writeUInt16BE(77, 1)), 16, /does not know/],
      [
        "a later expiry",
        () => altered((bytes) => bytes.writeUInt32BE(0xffff_fff0, 3)),
        16,
        /does not verify/,
      ],
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
        () => altered((bytes) => Buffer.from(tokenOf(from.keys), "base64url").copy(bytes, 23, 23)),
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
        () => carrying(tokenOf(poolKeyring(from.clusterKeys, other))),
        16,
        /does not verify/,
      ],
      ["one signed with the cluster's key", () => carrying(tokenOf(from.clusterKeys)), 16, /does not verify/],
      [
        "one that expired a second ago",
        () => carrying(tokenOf(from.keys, Date.now() - hour - 1_000)),
        16,
        /allocation expired at 20/,
      ],
      [
        "one that expired a year ago",
        () => carrying(tokenOf(from.keys, Date.now() - 365 * 24 * hour)),
        16,
        /allocation expired at 20/,
      ],
      [
        "one that was never granted",
        () => carrying(tokenOf(from.keys)),
        16,
        /has been released, or its worker is gone/,
      ],
    ];
  return all.map(([what, make, status, message]) => ({ what, make, status, message }));
}
