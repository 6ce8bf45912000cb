import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";

test("a right to certain names covers lists and watches that select one of them, and no deletion of a collection", async () => {
  await using plane = await ControlPlane.start({ controllers: "none" });
  const statusOf = async (user: string | undefined, method: string, path: string, body?: object) => {
    const transport = plane.connect(user === undefined ? undefined : { name: user, groups: [] });
    const response = await transport.request({
      method,
      path,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.status;
  };
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  await statusOf(undefined, "POST", `${rbac}/roles`, {
    metadata: { name: "named" },
    rules: [
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["a"],
        verbs: ["list", "watch", "deletecollection"],
      },
    ],
  });
  await statusOf(undefined, "POST", `${rbac}/rolebindings`, {
    metadata: { name: "named" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "named" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ada" }],
  });
  const path = "/api/v1/namespaces/default/configmaps";
  const selecting = (selector: string) => `${path}?fieldSelector=${encodeURIComponent(selector)}`;
  expect(await statusOf("ada", "GET", selecting("metadata.name=a"))).toBe(200);
  expect(await statusOf("ada", "GET", selecting("metadata.name=a,metadata.namespace=default"))).toBe(200);
  expect(await statusOf("ada", "GET", `${selecting("metadata.name=a")}&watch=1&timeoutSeconds=1`)).toBe(200);
  expect(await statusOf("ada", "GET", selecting("metadata.name=b"))).toBe(403);
  expect(await statusOf("ada", "GET", path)).toBe(403);
  expect(await statusOf("ada", "DELETE", selecting("metadata.name=a"))).toBe(403);
});
