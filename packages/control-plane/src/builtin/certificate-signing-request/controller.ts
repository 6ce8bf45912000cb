import { CertificateError, inspect, readSigningRequest, type SigningRequest } from "@windlass/certificates";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  deleteIfPresent,
  edit,
  isDeleting,
  listAt,
  numberAt,
  timeAt,
} from "../../controllers/objects.ts";
import { type JsonObject, textOf } from "../../json.ts";
import { timestamp } from "../../registry/metadata.ts";
import { specOf, statusOf } from "../../storage/object-fields.ts";
import { field, type StoredObject } from "../../storage/store.ts";
import { grantedUsages, kubeletClient, signerRules } from "./signers.ts";

const year = 365 * 86_400_000;
const shortest = 600_000;

function conditionOf(request: StoredObject, type: string): JsonObject | undefined {
  return listAt(request, "status", "conditions").find((condition) => condition.type === type);
}

function usagesOf(request: StoredObject): string[] {
  return (field(request, "spec", "usages") ?? []) as string[];
}

/** The decoded certificate request, or why it cannot be decoded. */
function wish(request: StoredObject): SigningRequest | CertificateError {
  try {
    return readSigningRequest(Buffer.from(textOf(field(request, "spec", "request")), "base64").toString());
  } catch (error) {
    if (error instanceof CertificateError) return error;
    throw error;
  }
}

/** The certificate requests of a cluster, and how their controllers write to them. */
function requestsOf(deps: ControllerDependencies) {
  const { registry } = deps;
  const requests = builtin(registry, "certificates.k8s.io", "v1", "certificatesigningrequests");
  const context = controllerContext("certificate-controller");
  const changeStatus = (
    request: StoredObject,
    subresource: "status" | "approval",
    change: (current: JsonObject) => JsonObject,
  ) =>
    edit(
      registry,
      requests,
      request,
      context,
      (next) => {
        next.status = { ...statusOf(next), ...change(next) };
      },
      subresource,
    );
  return { registry, requests, context, changeStatus };
}

/** By the names that kube-controller-manager has for them. */
export const certificateSigningRequestControllers = {
  "certificatesigningrequest-signing-controller": startCertificateSigning,
  "certificatesigningrequest-approving-controller": startCertificateApproving,
  "certificatesigningrequest-cleaner-controller": startCertificateCleaning,
};

/** Signs approved requests with this cluster's authority. */
function startCertificateSigning(deps: ControllerDependencies): Running {
  const { registry, requests, changeStatus } = requestsOf(deps);

  return startLoop(deps, {
    name: "certificatesigningrequest-signing-controller",
    watches: { [requests.bucket]: ownKey },
    reconcile: async (key) => {
      const request = registry.store.get(requests.bucket, key)?.object;
      if (!request || isDeleting(request) || !deps.signer) return undefined;
      const rule = signerRules.get(textOf(field(request, "spec", "signerName")));
      const isOpen = field(request, "status", "certificate") === undefined && !conditionOf(request, "Failed");
      if (!rule || !isOpen || !conditionOf(request, "Approved") || conditionOf(request, "Denied"))
        return undefined;
      const wanted = wish(request);
      const fault = wanted instanceof CertificateError ? wanted.message : rule(wanted, usagesOf(request));
      if (wanted instanceof CertificateError || fault !== undefined) await fail(request, fault ?? "");
      else await issue(request, wanted, deps.signer());
      return undefined;
    },
  });

  async function fail(request: StoredObject, message: string): Promise<void> {
    const now = timestamp(registry.clock);
    const failed = {
      type: "Failed",
      status: "True",
      reason: "SignerValidationFailure",
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    await changeStatus(request, "status", (current) => ({
      conditions: [...listAt(current, "status", "conditions"), failed],
    }));
  }

  async function issue(
    request: StoredObject,
    wanted: SigningRequest,
    signer: NonNullable<ReturnType<NonNullable<ControllerDependencies["signer"]>>>,
  ): Promise<void> {
    const asked = numberAt(request, ["spec", "expirationSeconds"], year / 1_000) * 1_000;
    const certificate = signer.sign(wanted, {
      ...grantedUsages(usagesOf(request)),
      validFor: Math.min(year, Math.max(shortest, asked)),
    });
    await changeStatus(request, "status", () => ({
      certificate: Buffer.from(certificate).toString("base64"),
    }));
  }
}

/** Approves kubelets' requests for client certificates, from those who may ask for them. */
function startCertificateApproving(deps: ControllerDependencies): Running {
  const { registry, requests, changeStatus } = requestsOf(deps);

  return startLoop(deps, {
    name: "certificatesigningrequest-approving-controller",
    watches: { [requests.bucket]: ownKey },
    reconcile: async (key) => {
      const request = registry.store.get(requests.bucket, key)?.object;
      if (!request || isDeleting(request) || listAt(request, "status", "conditions").length > 0)
        return undefined;
      if (field(request, "spec", "signerName") !== "kubernetes.io/kube-apiserver-client-kubelet")
        return undefined;
      const wanted = wish(request);
      if (wanted instanceof CertificateError || kubeletClient(wanted, usagesOf(request)) !== undefined)
        return undefined;
      const isSelf = wanted.subject.commonName === field(request, "spec", "username");
      const message =
        isSelf && may(request, "selfnodeclient")
          ? "Auto approving self kubelet client certificate after SubjectAccessReview."
          : may(request, "nodeclient")
            ? "Auto approving kubelet client certificate after SubjectAccessReview."
            : undefined;
      if (message === undefined) return undefined;
      const approved = { type: "Approved", status: "True", reason: "AutoApproved", message };
      await changeStatus(request, "approval", () => ({ conditions: [approved] }));
      return undefined;
    },
  });

  function may(request: StoredObject, subresource: string): boolean {
    const { username, groups } = specOf(request);
    const user = { name: textOf(username), groups: (groups ?? []) as string[] };
    const resource = "certificatesigningrequests";
    return (
      deps.authorizer?.authorize(user, {
        verb: "create",
        group: "certificates.k8s.io",
        resource,
        subresource,
        name: "",
        namespace: "",
      }).allowed ?? false
    );
  }
}

const hour = 3_600_000;

/** Deletes old requests: an hour after they were decided, a day after they were made. */
function startCertificateCleaning(deps: ControllerDependencies): Running {
  const { registry, requests, context } = requestsOf(deps);

  return startLoop(deps, {
    name: "certificatesigningrequest-cleaner-controller",
    watches: { [requests.bucket]: ownKey },
    reconcile: async (key) => {
      const request = registry.store.get(requests.bucket, key)?.object;
      if (!request || isDeleting(request)) return undefined;
      const left = endsAt(request) - registry.clock.now();
      if (left > 0) return Number.isFinite(left) ? { requeueAfterMs: left } : undefined;
      await deleteIfPresent(registry, requests, request, context);
      return undefined;
    },
  });
}

/** When a request is deleted. An approved request that no signer handles is kept. */
function endsAt(request: StoredObject): number {
  const decided = (type: string) => timeAt(conditionOf(request, type), "lastUpdateTime");
  const created = timeAt(request, "metadata", "creationTimestamp") ?? 0;
  const certificate = textOf(field(request, "status", "certificate"));
  const ends = [
    ...[decided("Denied"), decided("Failed"), certificate === "" ? undefined : decided("Approved")].flatMap(
      (at) => (at === undefined ? [] : [at + hour]),
    ),
    ...(listAt(request, "status", "conditions").length === 0 ? [created + 24 * hour] : []),
    ...(certificate === "" ? [] : expiryOf(certificate)),
  ];
  return Math.min(Number.POSITIVE_INFINITY, ...ends);
}

/**
 * When the issued certificate expires; empty for malformed ones, as other signers may write
 * anything.
 */
function expiryOf(certificate: string): number[] {
  try {
    return [inspect(Buffer.from(certificate, "base64").toString()).notAfter];
  } catch (error) {
    if (error instanceof CertificateError) return [];
    throw error;
  }
}
