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
