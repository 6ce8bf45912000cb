import { nameAndAge } from "../../table/metadata-cells.ts";
import type { KindDeclaration } from "../declaration.ts";
import { startRootCertificates, startServiceAccounts } from "./controller.ts";
import { startServiceAccountTokens } from "./tokens.ts";

export const serviceAccountKind = {
  group: "",
  kind: "ServiceAccount",
  strategy: { returnsDeleted: true },
  cells: nameAndAge,
  controllers: {
    "serviceaccount-controller": startServiceAccounts,
    "serviceaccount-token-controller": startServiceAccountTokens,
    "root-ca-certificate-publisher-controller": startRootCertificates,
  },
} satisfies KindDeclaration;
