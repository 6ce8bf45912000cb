import { createAuthority, type LeafInit } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { StatusError } from "../status.ts";
import {
  anonymous,
  authenticate,
  certificateUser,
  type TokenAuthenticator,
  type User,
  userInfo,
} from "./identity.ts";
import { impersonate } from "./impersonation.ts";
import { type Authorizer, createAuthorizer } from "./rbac.ts";

const jane: User = { name: "jane", groups: ["system:authenticated"] };
const tokens: TokenAuthenticator = {
  verify: async (token) =>
    token === "good"
      ? { user: { name: "tom", groups: [] }, audiences: [] }
      : { error: "invalid bearer token" },
};

describe("a request", () => {
  test("with nothing to show is anonymous", async () => {
    for (const authorization of [undefined, "", "Basic eDp5", "Bearer", "Bearer "]) {
      expect(await authenticate({ authorization }, tokens)).toBe(anonymous);
    }
  });

  test("is its certificate's before its token's, and a bad one of either does not spoil the other", async () => {
    expect(await authenticate({ certificate: jane, authorization: "Bearer bad" }, tokens)).toBe(jane);
    const tom = { name: "tom", groups: ["system:authenticated"] };
    expect(await authenticate({ certificate: "rejected", authorization: "bearer good" }, tokens)).toEqual(
      tom,
    );
  });

  test("is refused when all it shows is bad", async () => {
    const refused = expect.objectContaining({ code: 401, message: "Unauthorized" });
    await expect(authenticate({ authorization: "Bearer bad" }, tokens)).rejects.toEqual(refused);
    await expect(authenticate({ certificate: "rejected" }, tokens)).rejects.toEqual(refused);
  });
});

describe("a client certificate", () => {
  const clock = new ManualClock();
  const hour = 3_600_000;
  const authority = createAuthority({ commonName: "ca", validFor: 10 * hour, clock });
  const leaf = { commonName: "jane", organizations: ["devs"], usages: ["client"], validFor: hour } as const;
  const der = (certificate: string) => Buffer.from(certificate.replaceAll(/-----[^-]+-----/g, ""), "base64");
  const userOf = (init: LeafInit, now = clock.now(), by = authority) =>
    certificateUser(der(by.issue(init).certificate), {
      authority: authority.certificate,
      clock: { now: () => now },
    });

  test("names its user and groups, and itself as the credential", () => {
    expect(userOf(leaf)).toEqual({
      name: "jane",
      groups: ["devs", "system:authenticated"],
      extra: {
        "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)],
      },
    });
  });

  test("proves nothing when it is another authority's, a server's, or out of date", () => {
    const other = createAuthority({ commonName: "ca", validFor: hour, clock });
    expect(userOf(leaf, clock.now(), other)).toBe("rejected");
    expect(userOf({ ...leaf, usages: ["server"] })).toBe("rejected");
    expect(userOf(leaf, clock.now() + 2 * hour)).toBe("rejected");
    expect(certificateUser(new Uint8Array([1, 2]), { authority: authority.certificate, clock })).toBe(
      "rejected",
    );
  });
});

describe("impersonation", () => {
  const rules = [
    { verbs: ["impersonate"], apiGroups: [""], resources: ["users", "groups", "serviceaccounts"] },
    {
      verbs: ["impersonate"],
      apiGroups: ["authentication.k8s.io"],
      resources: ["userextras/scopes", "uids"],
    },
  ];
  const holding = (held: JsonObject[]): Authorizer =>
    createAuthorizer({
      revision: () => 1,
      clusterRoles: () => [{ metadata: { name: "r" }, rules: held }],
      clusterRoleBindings: () => [
        {
          metadata: { name: "b" },
          roleRef: { kind: "ClusterRole", name: "r" },
          subjects: [{ kind: "User", name: "jane" }],
        },
      ],
      roles: () => [],
      roleBindings: () => [],
    });
  const as = (headers: Record<string, string[]>, held = rules) => impersonate(jane, headers, holding(held));

  test("without headers leaves the sender as it is", () => {
    expect(as({})).toBe(jane);
    expect(as({ "impersonate-user": [""] })).toBe(jane);
  });

  test("takes on exactly what the headers name", () => {
    const headers = {
      "impersonate-user": ["bob"],
      "impersonate-group": ["a", "b"],
      "impersonate-uid": ["7"],
      "impersonate-extra-scopes": ["x", "y"],
    };
    expect(as(headers)).toEqual({
      name: "bob",
      uid: "7",
      groups: ["a", "b", "system:authenticated"],
      extra: { scopes: ["x", "y"] },
    });
  });

  test("gives a service account its groups, and the anonymous user its own", () => {
    expect(as({ "impersonate-user": ["system:serviceaccount:ns:sa"] }).groups).toEqual([
      "system:serviceaccounts",
      "system:serviceaccounts:ns",
      "system:authenticated",
    ]);
    expect(as({ "impersonate-user": ["system:anonymous"] }).groups).toEqual(["system:unauthenticated"]);
  });

  test.each([
    [
      { "impersonate-user": ["bob"] },
      'users "bob" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      { "impersonate-user": ["system:serviceaccount:ns:sa"] },
      'serviceaccounts "sa" is forbidden: User "jane" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
    ],
  ])("of %j needs the right to it", (headers, message) => {
    expect(() => as(headers, [])).toThrow(expect.objectContaining({ code: 403, message }));
  });

  test.each([
    [{ "impersonate-group": ["x"] }, "[{Group  x    }]"],
    [{ "impersonate-uid": ["x"] }, "[{UID  x  authentication.k8s.io/v1  }]"],
    [{ "impersonate-extra-foo": ["x"] }, "[{UserExtra  x  authentication.k8s.io/v1  foo}]"],
  ])("of %j without a user is a bad request", (headers, shown) => {
    const message = `requested ${shown} without impersonating a user`;
    expect(() => as(headers)).toThrow(expect.objectContaining({ code: 400, message }));
  });

  test("fails with a status or gives a user, whatever the headers", () => {
    const header = fc.constantFrom(
      "impersonate-user",
      "impersonate-group",
      "impersonate-uid",
      "impersonate-extra-%2",
      "impersonate-extra-__proto__",
    );
    fc.assert(
      fc.property(fc.dictionary(header, fc.array(fc.string(), { minLength: 1, maxLength: 2 })), (headers) => {
        try {
          expect(
            userInfo(impersonate({ name: "root", groups: ["system:masters"] }, headers, holding([]))),
          ).toHaveProperty("username");
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
    );
  });
});
