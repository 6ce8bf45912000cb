import { CertificateError, readSigningRequest } from "@windlass/certificates";
import type { Authorizer } from "../auth/index.ts";
import { equal, type JsonObject } from "../json.ts";
import { field, itemsAt, specOf, statusOf, textAt } from "../json-fields.ts";
import type { Admission, AdmissionRequest } from "../registry/admission.ts";
import { ensure } from "../validation/fill.ts";
import { userOf } from "./escalation.ts";
import { refuse } from "./plugin.ts";

const group = "certificates.k8s.io";
const plural = "certificatesigningrequests";

/** Requests for certificates say who made them, whatever they were sent with. */
export function certificateRequesters(): Admission {
  return {
    name: "CertificateRequester",
    mutate: (request) => {
      const { info } = request.resource;
      if (info.plural !== plural || info.group !== group || request.operation !== "CREATE") return;
      const { object, user } = request;
      if (!object) return;
      const spec = ensure(object, "spec");
      for (const part of ["username", "uid", "groups", "extra"]) delete spec[part];
      spec.username = user.name;
      spec.groups = [...user.groups];
      if (user.uid !== undefined && user.uid !== "") spec.uid = user.uid;
      if (user.extra) {
        spec.extra = Object.fromEntries(
          Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
        );
      }
    },
  };
}

/**
 * Refuses certificate requests for the group `system:masters`, whose permissions cannot be revoked.
 */
export function certificateSubjects(): Admission {
  return {
    name: "CertificateSubjectRestriction",
    validate: (request) => {
      const { info } = request.resource;
      if (info.plural !== plural || info.group !== group || request.operation !== "CREATE") return;
      const spec = specOf(request.object ?? {});
      if (request.subresource !== undefined || textAt(spec, "signerName") !== clientSigner) return;
      if (organizationsOf(Buffer.from(textAt(spec, "request"), "base64").toString()).includes(masters))
        throw refuse(request, `use of ${clientSigner} signer with ${masters} group is not allowed`);
    },
  };
}

const clientSigner = "kubernetes.io/kube-apiserver-client";
const masters = "system:masters";

/**
 * The groups that a request is for; none where it cannot be read, which is for others to refuse.
 */
function organizationsOf(request: string): readonly string[] {
  try {
    return readSigningRequest(request).subject.organizations;
  } catch (error) {
    if (error instanceof CertificateError) return [];
    throw error;
  }
}

/** Approving needs the permission `approve` for the signer, signing needs `sign`. */
export function certificateSigners(authorizer: Authorizer): Admission {
  return {
    name: "CertificateApprovalAndSigning",
    validate: (request) => {
      const { info } = request.resource;
      if (info.plural !== plural || info.group !== group || request.operation !== "UPDATE") return;
      const { object, oldObject } = request;
      if (!object || !oldObject) return;
      if (request.subresource === "approval") {
        demand(request, oldObject, "approve", authorizer);
      } else if (request.subresource === "status" && signs(object, oldObject)) {
        demand(request, oldObject, "sign", authorizer);
      }
    },
  };
}

function signs(object: JsonObject, before: JsonObject): boolean {
  const certificate = (one: JsonObject) => field(statusOf(one), "certificate") ?? null;
  const failed = (one: JsonObject) =>
    itemsAt(statusOf(one), "conditions").filter((condition) => textAt(condition, "type") === "Failed");
  return !equal(certificate(object), certificate(before)) || !equal(failed(object), failed(before));
}

function demand(
  request: AdmissionRequest,
  before: JsonObject,
  verb: "approve" | "sign",
  authorizer: Authorizer,
): void {
  const signer = textAt(specOf(before), "signerName");
  const wildcard = `${signer.split("/")[0] ?? ""}/*`;
  const user = userOf(request.user);
  const allowed = [signer, wildcard].some(
    (name) => authorizer.authorize(user, { verb, group, resource: "signers", name, namespace: "" }).allowed,
  );
  if (!allowed) {
    throw refuse(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
  }
}
