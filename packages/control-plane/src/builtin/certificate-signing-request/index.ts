import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { certificateSigningRequestCells } from "./columns.ts";
import {
  startCertificateApproving,
  startCertificateCleaning,
  startCertificateSigning,
} from "./controller.ts";
import { certificateSigningRequest } from "./strategy.ts";

export const certificateSigningRequestKind = {
  group: "certificates.k8s.io",
  kind: "CertificateSigningRequest",
  strategy: certificateSigningRequest,
  cells: cellsOf(certificateSigningRequestCells),
  controllers: {
    "certificatesigningrequest-signing-controller": startCertificateSigning,
    "certificatesigningrequest-approving-controller": startCertificateApproving,
    "certificatesigningrequest-cleaner-controller": startCertificateCleaning,
  },
} satisfies KindDeclaration;
