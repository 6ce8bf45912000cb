import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { certificateUser } from "../../auth/index.ts";
import { startCluster, type TestCluster } from "../../controllers/cluster.fixture.ts";
import type { JsonObject } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";

/** Requests by openssl: `jane` of devs and ops, and a node called `fake`. */
const requests = JSON.parse(readFileSync(new URL("requests.test.json", import.meta.url), "utf8")) as {
  readonly jane: string;
  readonly node: string;
  readonly masters: string;
};

const bucket = "certificatesigningrequests.certificates.k8s.io";

function signingRequest(name: string, request: string, signer: string, usages: string[]): JsonObject {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: `kubernetes.io/${signer}`,
      usages,
      expirationSeconds: 3_600,
    },
  };
}

async function decide(cluster: TestCluster, name: string, type: "Approved" | "Denied") {
  await cluster.changeStatus(
    bucket,
    name,
    (object) => {
      object.status = { conditions: [{ type, status: "True", reason: "Test", message: "" }] };
    },
    "approval",
  );
}

const conditions = (cluster: TestCluster, name: string) =>
  ((valueAt(cluster.get(bucket, name), "status", "conditions") ?? []) as JsonObject[]).map(
    ({ type, reason, message }) => [type, reason, message],
  );
const certificate = (cluster: TestCluster, name: string) =>
  valueAt(cluster.get(bucket, name), "status", "certificate") as string | undefined;

test("an approved request is signed, and the API server knows its bearer", async () => {
  await using cluster = await startCluster();
  await cluster.create(signingRequest("jane", requests.jane, "kube-apiserver-client", ["client auth"]));
  expect(certificate(cluster, "jane")).toBeUndefined();
  await decide(cluster, "jane", "Approved");
  const pem = Buffer.from(certificate(cluster, "jane") ?? "", "base64").toString();
  const user = certificateUser(new X509Certificate(pem).raw, {
    authority: cluster.plane.authority.certificate,
    clock: Date,
  });
  expect(user).toMatchObject({ name: "jane", groups: ["ops", "devs", "system:authenticated"] });
});

test("a request that its signer cannot sign fails, and says why", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    signingRequest("usage", requests.jane, "kube-apiserver-client", ["server auth"]),
    signingRequest("person", requests.jane, "kube-apiserver-client-kubelet", ["client auth"]),
    signingRequest("refused", requests.jane, "kube-apiserver-client", ["client auth"]),
  );
  await decide(cluster, "usage", "Approved");
  await decide(cluster, "person", "Approved");
  await decide(cluster, "refused", "Denied");
  expect(conditions(cluster, "usage")[1]).toEqual([
    "Failed",
    "SignerValidationFailure",
    "invalid usage for client certificate: server auth",
  ]);
  expect(conditions(cluster, "person")[1]).toEqual([
    "Failed",
    "SignerValidationFailure",
    "subject organization is not system:nodes",
  ]);
  expect(certificate(cluster, "refused")).toBeUndefined();
});

test("a kubelet's request by a user who may ask for it needs no approval", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    signingRequest("node", requests.node, "kube-apiserver-client-kubelet", [
      "client auth",
      "digital signature",
    ]),
  );
  expect(conditions(cluster, "node")).toEqual([
    ["Approved", "AutoApproved", "Auto approving kubelet client certificate after SubjectAccessReview."],
  ]);
  expect(certificate(cluster, "node")).toBeDefined();
});

test("no user may request a certificate of system:masters", async () => {
  await using cluster = await startCluster();
  await expect(
    cluster.create(signingRequest("boss", requests.masters, "kube-apiserver-client", ["client auth"])),
  ).rejects.toThrow(
    "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
  );
});

test("requests are deleted an hour after they were decided, and a day after they were made", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    signingRequest("decided", requests.jane, "kube-apiserver-client", ["client auth"]),
    signingRequest("open", requests.jane, "kube-apiserver-client", ["client auth"]),
  );
  await decide(cluster, "decided", "Denied");
  await cluster.pass(3_600_000);
  expect(cluster.get(bucket, "decided")).toBeUndefined();
  await cluster.pass(22 * 3_600_000);
  expect(cluster.get(bucket, "open")).toBeDefined();
  await cluster.pass(3_600_000);
  expect(cluster.get(bucket, "open")).toBeUndefined();
});
