import type { Registry } from "@windlass/runtime";
import type { Validity } from "./validity.ts";

/** Whose certificate it is. */
export interface Shower {
  readonly kind: "BuildbarnStorage" | "BuildbarnFrontend";
  readonly namespace: string;
  readonly name: string;
}

function families(registry: Registry) {
  const labels = ["namespace", "kind", "name"];
  return {
    expiry: registry.gauge({
      name: "buildbarn_certificate_expiry_timestamp_seconds",
      help: "When the certificate that a component shows runs out, or the authority that signed it",
      labels,
    }),
    due: registry.gauge({
      name: "buildbarn_certificate_renewal_due",
      help: "Whether the certificate that a component shows should have been renewed: 1 or 0",
      labels,
    }),
  };
}

/** Sets the metrics of the certificate that a component shows. */
export function reportCertificate(
  registry: Registry,
  by: Shower,
  { untilMs, dueMs }: Validity,
  now: number,
): void {
  const { expiry, due } = families(registry);
  const labels = labelsOf(by);
  expiry.set(untilMs / 1_000, labels);
  due.set(dueMs <= now ? 1 : 0, labels);
}

/** Takes the metrics of a component away that is gone, or shows no certificate any more. */
export function forgetCertificate(registry: Registry, by: Shower): void {
  for (const family of Object.values(families(registry))) family.remove(labelsOf(by));
}

function labelsOf({ kind, namespace, name }: Shower) {
  return { namespace, kind, name };
}
