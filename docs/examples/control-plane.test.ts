import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlPlane } from "@windlass/control-plane";
import { Client, isForbidden } from "@windlass/runtime";
import { ConfigMap, Role, RoleBinding, Secret } from "@windlass/runtime/kinds";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "control-plane-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("what is kept in a file is there after the next start", async () => {
  const data = join(folder, "state");
  const key = { namespace: "default", name: "settings" };
  {
    await using plane = await ControlPlane.start({ data });
    const client = new Client({ transport: plane.connect() });
    await client.create(ConfigMap, { metadata: key, data: { colour: "red" } });
  }
  await using plane = await ControlPlane.start({ data });
  const client = new Client({ transport: plane.connect() });
  expect((await client.get(ConfigMap, key)).data).toEqual({ colour: "red" });
});

test("a user may do what roles allow, and nothing else", async () => {
  await using plane = await ControlPlane.start();
  const admin = new Client({ transport: plane.connect() });
  const metadata = { namespace: "default", name: "readers" };
  await admin.create(Role, {
    metadata,
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }],
  });
  await admin.create(RoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "readers" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "staff" }],
  });
  const ada = new Client({ transport: plane.connect({ name: "ada", groups: ["staff"] }) });
  await ada.list(ConfigMap, { namespace: "default" });
  await expect(ada.list(Secret, { namespace: "default" })).rejects.toSatisfy(isForbidden);
});

test("other programs reach it by a kubeconfig", async () => {
  await using plane = await ControlPlane.start();
  const url = await plane.listen({ port: 0 });
  const kubeconfig = await plane.kubeconfig();
  expect(kubeconfig).toContain(url);
});
