import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { kubeconfig, kubeconfigYaml } from "./kubeconfig.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

test("a kubeconfig holds all it needs for a certificate", () => {
  const made = kubeconfig({
    server: "https://127.0.0.1:6443",
    authority: "CA",
    user: { certificate: "CERT", key: "KEY" },
    name: "dev",
    namespace: "team",
  });
  expect(made).toEqual({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "dev",
        cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": base64("CA") },
      },
    ],
    users: [
      { name: "dev", user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") } },
    ],
    contexts: [{ name: "dev", context: { cluster: "dev", user: "dev", namespace: "team" } }],
    "current-context": "dev",
  });
});

test("an EC key is written in the form that every client reads, any other as it is", () => {
  const keyIn = (key: string) => {
    const { users } = kubeconfig({ server: "https://a", user: { certificate: "CERT", key } });
    const [{ user }] = users as [{ user: { "client-key-data": string } }];
    return Buffer.from(user["client-key-data"], "base64").toString();
  };
  const pkcs8 = { type: "pkcs8", format: "pem" } as const;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const written = keyIn(ec.export(pkcs8).toString());
  expect(written).toMatch(/^-----BEGIN EC PRIVATE KEY-----/);
  expect(createPrivateKey(written).equals(ec)).toBe(true);
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pkcs8).toString();
  expect(keyIn(rsa)).toBe(rsa);
});

test("its text reads back as the same, whatever the names and the user", () => {
  const names = fc.oneof(
    fc.constantFrom("windlass", "yes", "1e3", "a: b", "#x", "'\"\n", "~", "null", "-", "0x10"),
    fc.string({ unit: "binary" }),
  );
  const users = fc.oneof(
    names.map((token) => ({ token })),
    names.map((text) => ({ certificate: text, key: text })),
    fc.constant({ anonymous: true as const }),
  );
  fc.assert(
    fc.property(names, users, (name, user) => {
      const init = { server: "https://[::1]:6443", user, name, namespace: name };
      expect(load(kubeconfigYaml(init))).toEqual(kubeconfig(init));
    }),
  );
});
