import { CertificateError, inspect, readSigningRequest, type SigningRequest } from "@windlass/certificates";
import { conditionOf } from "@windlass/kinds";
import type { CertificateSigningRequest } from "@windlass/kinds/builtin";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  deleteIfPresent,
  edit,
  isDeleting,
  stored,
} from "../../controllers/objects.ts";
import { textOf } from "../../json.ts";
import { millisOf } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { grantedUsages, kubeletClient, signerRules } from "./signers.ts";

type Status = NonNullable<CertificateSigningRequest["status"]>;

const year = 365 * 86_400_000;
const shortest = 600_000;

function usagesOf(request: Stored<CertificateSigningRequest>): string[] {
  return [...(request.spec.usages ?? [])];
}

/** The decoded certificate request, or why it cannot be decoded. */
function wish(request: Stored<CertificateSigningRequest>): SigningRequest | CertificateError {
  try {
    return readSigningRequest(Buffer.from(request.spec.request, "base64").toString());
  } catch (error) {
    if (error instanceof CertificateError) return error;
    throw error;
  }
}

/** The certificate requests of a cluster, and how their controllers write to them. */
function requestsOf(deps: ControllerDependencies) {
  const { registry } = deps;
  const requests = builtin<CertificateSigningRequest>(
    registry,
    "certificates.k8s.io",
    "v1",
    "certificatesigningrequests",
  );
  const context = controllerContext("certificate-controller");
  const changeStatus = (
    request: Stored<CertificateSigningRequest>,
    subresource: "status" | "approval",
    change: (current: Status) => Status,
  ) =>
    edit(
      registry,
      requests,
      request,
      context,
      (next) => {
        next.status = { ...next.status, ...(change(next.status ?? {}) as Draft<Status>) };
      },
      subresource,
    );
  return { registry, requests, context, changeStatus };
}

/** Signs approved requests with this cluster's authority. */
export function startCertificateSigning(deps: ControllerDependencies): Running {
  const { registry, requests, changeStatus } = requestsOf(deps);

  return startLoop(deps, {
    name: "certificatesigningrequest-signing-controller",
    watches: { [requests.bucket]: ownKey },
    reconcile: async (key) => {
      const request = stored(registry, requests, key);
      if (!request || isDeleting(request) || !deps.signer) return undefined;
      const rule = signerRules.get(request.spec.signerName);
      const isOpen = request.status?.certificate === undefined && !conditionOf(request, "Failed");
      if (!rule || !isOpen || !conditionOf(request, "Approved") || conditionOf(request, "Denied"))
        return undefined;
      const wanted = wish(request);
      const fault = wanted instanceof CertificateError ? wanted.message : rule(wanted, usagesOf(request));
      if (wanted instanceof CertificateError || fault !== undefined) await fail(request, fault ?? "");
      else await issue(request, wanted, deps.signer());
      return undefined;
    },
  });

  async function fail(request: Stored<CertificateSigningRequest>, message: string): Promise<void> {
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
      conditions: [...(current.conditions ?? []), failed],
    }));
  }

  async function issue(
    request: Stored<CertificateSigningRequest>,
    wanted: SigningRequest,
    signer: NonNullable<ReturnType<NonNullable<ControllerDependencies["signer"]>>>,
  ): Promise<void> {
    const asked = (request.spec.expirationSeconds ?? year / 1_000) * 1_000;
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
export function startCertificateApproving(deps: ControllerDependencies): Running {
  const { registry, requests, changeStatus } = requestsOf(deps);

  return startLoop(deps, {
    name: "certificatesigningrequest-approving-controller",
    watches: { [requests.bucket]: ownKey },
    reconcile: async (key) => {
      const request = stored(registry, requests, key);
      if (!request || isDeleting(request) || (request.status?.conditions ?? []).length > 0) return undefined;
      if (request.spec.signerName !== "kubernetes.io/kube-apiserver-client-kubelet") return undefined;
      const wanted = wish(request);
      if (wanted instanceof CertificateError || kubeletClient(wanted, usagesOf(request)) !== undefined)
        return undefined;
      const isSelf = wanted.subject.commonName === request.spec.username;
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

  function may(request: Stored<CertificateSigningRequest>, subresource: string): boolean {
    const { username, groups } = request.spec;
    const user = { name: username ?? "", groups: [...(groups ?? [])] };
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
export function startCertificateCleaning(deps: ControllerDependencies): Running {
  const { registry, requests, context } = requestsOf(deps);

  return startLoop(deps, {
    name: "certificatesigningrequest-cleaner-controller",
    watches: { [requests.bucket]: ownKey },
    reconcile: async (key) => {
      const request = stored(registry, requests, key);
      if (!request || isDeleting(request)) return undefined;
      const left = endsAt(request) - registry.clock.now();
      if (left > 0) return Number.isFinite(left) ? { requeueAfterMs: left } : undefined;
      await deleteIfPresent(registry, requests, request, context);
      return undefined;
    },
  });
}

/** When a request is deleted. An approved request that no signer handles is kept. */
function endsAt(request: Stored<CertificateSigningRequest>): number {
  const decided = (type: string) => millisOf(conditionOf(request, type)?.lastUpdateTime);
  const created = millisOf(request.metadata.creationTimestamp) ?? 0;
  const certificate = textOf(request.status?.certificate);
  const ends = [
    ...[decided("Denied"), decided("Failed"), certificate === "" ? undefined : decided("Approved")].flatMap(
      (at) => (at === undefined ? [] : [at + hour]),
    ),
    ...((request.status?.conditions ?? []).length === 0 ? [created + 24 * hour] : []),
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
