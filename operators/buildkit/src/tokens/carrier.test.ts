import { createAuthority, inspect } from "@windlass/certificates";
import { systemRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { tokenIn, tokenNames } from "./carrier.ts";
import { addKey } from "./keyring.ts";
import { issueToken, newAllocationId } from "./token.ts";

const now = Date.now();
const { token } = issueToken(addKey([], now, systemRandom), {
  allocationId: newAllocationId(systemRandom),
  now,
});
const other = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
const authority = createAuthority({ commonName: "clients", validFor: 3_600_000 });

function carriedBy(commonName: string, uris: readonly string[]) {
  const { certificate } = authority.issue({ commonName, uris, usages: ["client"], validFor: 3_600_000 });
  return tokenIn(inspect(certificate));
}

const { commonName, uri } = tokenNames(token);

test("a token fits the 64 characters of a common name", () => {
  expect(commonName).toBe(`alloc:${token}`);
  expect(commonName.length).toBe(58);
});

test.for<[string, string, readonly string[]]>([
  ["both", commonName, [uri]],
  ["the common name alone", commonName, []],
  ["a URI alone", "jane", [uri]],
  ["a URI among others", "jane", ["spiffe://cluster/jane", uri]],
])("a token is found in %s", ([, name, uris]) => {
  expect(carriedBy(name, uris)).toEqual({ has: "token", token });
});

test.for<[string, string, readonly string[]]>([
  ["a name without the prefix", token, []],
  ["a prefix in other letters", `Alloc:${token}`, []],
  ["a prefix that does not come first", `x alloc:${token}`, []],
  ["a URI of another kind", "jane", [`buildkit://pool/${token}`, `https://allocation/${token}`]],
])("no token is found in %s", ([, name, uris]) => {
  expect(carriedBy(name, uris)).toEqual({ has: "none" });
});

test.for<[string, string, readonly string[]]>([
  ["in name and URI", commonName, [tokenNames(other).uri]],
  ["in two URIs", "jane", [uri, tokenNames(other).uri]],
])("two tokens %s count for nothing", ([, name, uris]) => {
  expect(carriedBy(name, uris)).toEqual({ has: "several" });
});
