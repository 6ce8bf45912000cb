import type { KindDeclaration } from "../declaration.ts";
import { certificateSigningRequestCells } from "./columns.ts";
import { certificateSigningRequest } from "./strategy.ts";

export const certificateSigningRequestKind = {
  group: "certificates.k8s.io",
  kind: "CertificateSigningRequest",
  strategy: certificateSigningRequest,
  cells: certificateSigningRequestCells,
  controllers: {
    "certificatesigningrequest-signing-controller": async () =>
      (await import("./controller.ts")).startCertificateSigning,
    "certificatesigningrequest-approving-controller": async () =>
      (await import("./controller.ts")).startCertificateApproving,
    "certificatesigningrequest-cleaner-controller": async () =>
      (await import("./controller.ts")).startCertificateCleaning,
  },
} satisfies KindDeclaration;
