import { nameAndAge } from "../../table/metadata-cells.ts";
import type { KindDeclaration } from "../declaration.ts";

export const serviceAccountKind = {
  group: "",
  kind: "ServiceAccount",
  strategy: { returnsDeleted: true },
  cells: nameAndAge,
  controllers: {
    "serviceaccount-controller": async () => (await import("./controller.ts")).startServiceAccounts,
    "serviceaccount-token-controller": async () => (await import("./tokens.ts")).startServiceAccountTokens,
    "root-ca-certificate-publisher-controller": async () =>
      (await import("./controller.ts")).startRootCertificates,
  },
} satisfies KindDeclaration;
