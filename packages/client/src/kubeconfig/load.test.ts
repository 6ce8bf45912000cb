import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findAccess } from "../connect.ts";
import { accessFor } from "./access.ts";
import { inClusterAccess } from "./in-cluster.ts";
import { loadKubeconfig } from "./load.ts";
import { kubeconfigFor } from "./write.ts";

let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-kubeconfig-"));
  await mkdir(at("one"));
  await mkdir(at("two"));
  await mkdir(at("home", ".kube"), { recursive: true });
  const config = (server: string, more: string) =>
    `clusters: [{name: c, cluster: {server: "https://${server}", certificate-authority: ca.crt}}]\n${more}`;
  await writeFile(
    at("one", "config"),
    config("one", "contexts: [{name: x, context: {cluster: c, user: u}}]"),
  );
  await writeFile(
    at("two", "config"),
    config(
      "two",
      "current-context: x\ncontexts: [{name: x, context: {cluster: other}}]\nusers: [{name: u, user: {token: two}}]",
    ),
  );
  await writeFile(at("home", ".kube", "config"), kubeconfigFor({ server: "https://home" }));
});
afterAll(() => rm(folder, { recursive: true }));

test("several files are merged: the first that has a name wins, and paths are relative to their own file", async () => {
  const env = { KUBECONFIG: [at("missing"), at("one", "config"), "", at("two", "config")].join(delimiter) };
  const config = await loadKubeconfig({ env });
  expect(config && accessFor(config)).toEqual({
    cluster: { server: "https://one", certificateAuthority: at("one", "ca.crt") },
    user: { token: "two" },
    namespace: "default",
    source: [at("one", "config"), at("two", "config")].join(delimiter),
  });
});

test("without KUBECONFIG it is the file in the home folder", async () => {
  const access = await findAccess({ env: { HOME: at("home") } });
  expect(access.cluster.server).toBe("https://home");
});

test("an explicit path wins over KUBECONFIG, and must exist", async () => {
  const env = { KUBECONFIG: at("one", "config") };
  const access = await findAccess({ kubeconfig: at("home", ".kube", "config"), env });
  expect(access.cluster.server).toBe("https://home");
  await expect(findAccess({ kubeconfig: at("missing"), env })).rejects.toMatchObject({
    code: "KUBECONFIG_NOT_FOUND",
    message: `kubeconfig ${at("missing")}: there is no such file`,
  });
  await expect(findAccess({ kubeconfig: at("one") })).rejects.toThrow(
    `${at("one")}: is a directory, not a file`,
  );
});

test("with nothing at all the message says what to do, and names the file that KUBECONFIG means", async () => {
  await expect(findAccess({ env: { HOME: at("one"), KUBECONFIG: at("missing") } })).rejects.toMatchObject({
    code: "KUBECONFIG_NOT_FOUND",
    message: `KUBECONFIG is ${JSON.stringify(at("missing"))}, and there is no such file; correct it, or unset it to use ~/.kube/config`,
  });
  await expect(findAccess({ env: { HOME: at("one") } })).rejects.toMatchObject({
    code: "KUBECONFIG_NOT_FOUND",
    message: expect.stringMatching(
      /^no cluster is configured: .*; set KUBECONFIG to the path of a kubeconfig$/,
    ),
  });
});

test("a file with nothing in it is reported as such", async () => {
  await writeFile(at("empty"), "");
  await expect(findAccess({ env: { KUBECONFIG: at("empty") } })).rejects.toMatchObject({
    code: "KUBECONFIG_INVALID",
    message: `kubeconfig ${at("empty")}: it is empty: it has neither contexts nor clusters; write one, or point KUBECONFIG at another file`,
  });
});

test("in a pod it is the service account, also over IPv6", async () => {
  await writeFile(at("two", "token"), "secret\n");
  await writeFile(at("two", "namespace"), "team\n");
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  expect(await inClusterAccess({ env, folder: at("two") })).toEqual({
    cluster: { server: "https://[fd00::1]:443", certificateAuthority: at("two", "ca.crt") },
    user: { tokenFile: at("two", "token") },
    namespace: "team",
    source: "the pod's service account",
  });
  expect(await inClusterAccess({ env, folder: at("one") })).toBeUndefined();
  expect(await inClusterAccess({ env: {}, folder: at("two") })).toBeUndefined();
});
