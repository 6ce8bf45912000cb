import { setTimeout as wait } from "node:timers/promises";
import { ManualClock, seededRandom } from "@windlass/clock";
import { createTokens, requestToken, reviewToken } from "../../../packages/control-plane/src/auth/index.ts";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";
import type { ReviewComparison } from "./compare-reviews.ts";

const metadata = (name: string): JsonObject => ({ name, finalizers: ["example.com/hold"] });

/** Tokens count for a minute after what they are bound to should be gone. */
const afterMs = 70_000;

const bound = [
  { resource: "serviceaccounts", account: "going", object: { metadata: metadata("going") } },
  {
    resource: "pods",
    account: "sa-0",
    kind: "Pod",
    object: {
      metadata: metadata("going"),
      spec: {
        serviceAccountName: "sa-0",
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "c", image: "i" }],
      },
    },
  },
  { resource: "secrets", account: "sa-0", kind: "Secret", object: { metadata: metadata("going") } },
] as const;

/**
 * Tokens of accounts, Pods and Secrets that are being deleted, right after and a minute later.
 * Takes as long.
 *
 * @param given what `compareReviews` was given, after it: there is an account `sa-0`
 */
export async function compareDeletions({ real, namespace, compare }: ReviewComparison): Promise<void> {
  const found = new Map<string, JsonObject>();
  const clock = new ManualClock(Math.floor(Date.now() / 1000) * 1000);
  const tokens = createTokens({
    clock,
    random: seededRandom(2),
    find: (resource, home, name) => found.get(`${resource}/${home}/${name}`),
  });
  const home = `/api/v1/namespaces/${namespace}`;
  const read = async (resource: string, name: string) => {
    const { body } = await real.send("GET", `${home}/${resource}/${name}`);
    found.set(`${resource}/${namespace}/${name}`, body as JsonObject);
    return body as JsonObject;
  };
  await read("serviceaccounts", "sa-0");
  const issued: { readonly what: string; readonly theirs: string; readonly ours: string }[] = [];
  for (const one of bound) {
    await real.send("POST", `${home}/${one.resource}`, one.object);
    await read(one.resource, "going");
    const account = await read("serviceaccounts", one.account);
    const reference =
      "kind" in one ? { boundObjectRef: { apiVersion: "v1", kind: one.kind, name: "going" } } : {};
    const request = { spec: reference };
    const { body } = await real.send("POST", `${home}/serviceaccounts/${one.account}/token`, request);
    const own = await requestToken(request, account, { tokens, clock });
    const tokenOf = (answer: JsonObject) => (answer.status as { token: string }).token;
    issued.push({ what: one.resource, theirs: tokenOf(body as JsonObject), ours: tokenOf(own) });
  }
  const review = async (when: string) => {
    for (const { what, theirs, ours } of issued) {
      const path = "/apis/authentication.k8s.io/v1/tokenreviews";
      const { body } = await real.send("POST", path, { spec: { token: theirs } });
      const own = await reviewToken({ spec: { token: ours } }, tokens);
      const verdict = ({ status }: JsonObject) => {
        const { authenticated = false, error = "" } = status as { authenticated?: boolean; error?: string };
        return { authenticated, error };
      };
      compare(`a token of ${what} that go, ${when}`, verdict(body as JsonObject), verdict(own));
    }
  };
  for (const { resource } of bound) {
    await real.send("DELETE", `${home}/${resource}/going`);
    await read(resource, "going");
  }
  await review("at once");
  await wait(afterMs);
  await clock.advance(afterMs);
  await review("a minute later");
  for (const { resource } of bound) {
    await real.send(
      "PATCH",
      `${home}/${resource}/going`,
      { metadata: { finalizers: null } },
      {
        "content-type": "application/merge-patch+json",
      },
    );
  }
}
