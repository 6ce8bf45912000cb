import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { admissionPolicyBindingCells, admissionPolicyCells } from "./columns.ts";
import { startAdmissionPolicyStatus } from "./controller.ts";
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from "./strategy.ts";

export const validatingAdmissionPolicyKind = {
  group: "admissionregistration.k8s.io",
  kind: "ValidatingAdmissionPolicy",
  strategy: validatingAdmissionPolicy,
  cells: cellsOf(admissionPolicyCells),
  controllers: {
    "validatingadmissionpolicy-status-controller": startAdmissionPolicyStatus,
  },
} satisfies KindDeclaration;

export const validatingAdmissionPolicyBindingKind = {
  group: "admissionregistration.k8s.io",
  kind: "ValidatingAdmissionPolicyBinding",
  strategy: validatingAdmissionPolicyBinding,
  cells: cellsOf(admissionPolicyBindingCells),
} satisfies KindDeclaration;
