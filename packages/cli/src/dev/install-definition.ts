import type { Client } from "@windlass/client";
import type { CrdManifest } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { isReservedGroup } from "../create/names.ts";
import { CommandError } from "../errors.ts";
import { until } from "./until.ts";

/** How long a server may take to serve a kind: it says whether it will within milliseconds. */
const longestMs = 30_000;
/** How long a server may take to look at a definition again that it did not accept before. */
const secondLookMs = 1_000;

/**
 * Installs a definition, and waits until its kind is served.
 *
 * @throws CommandError saying what keeps it from being served
 */
export async function installDefinition(
  client: Client,
  definition: CrdManifest,
  signal: AbortSignal,
): Promise<void> {
  const { name } = definition.metadata;
  const { group } = definition.spec;
  if (isReservedGroup(group))
    throw new CommandError(
      `CRD ${name}: the group ${group} belongs to Kubernetes: take a domain of your own, such as shop.example.com`,
    );
  const applied = await client.apply(CustomResourceDefinition, definition, { force: true, signal });
  if (isTrue(applied, "Established")) return;
  // What is said may be of the definition as it was.
  const began = performance.now();
  const isOld = refusalOf(applied) !== undefined;
  const found = await until(
    client,
    CustomResourceDefinition,
    { name },
    { timeoutMs: longestMs, signal },
    (present) => {
      if (present === undefined || isTrue(present, "Established")) return "served";
      return isOld && performance.now() - began < secondLookMs ? undefined : refusalOf(present);
    },
  );
  if (found === "served") return;
  throw new CommandError(
    `CRD ${name}: ${found ?? `its kind is not served after ${longestMs / 1_000} s: kubectl describe crd ${name} says why`}`,
  );
}

function isTrue({ status }: CustomResourceDefinition, wanted: string): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === wanted && is === "True") ?? false;
}

/** Why a kind will not be served, however long one waits. */
function refusalOf({ status }: CustomResourceDefinition): string | undefined {
  const conditions = status?.conditions ?? [];
  const taken = conditions.find(({ type, status: is }) => type === "NamesAccepted" && is === "False");
  if (taken !== undefined)
    return `${taken.message ?? "a name of it is taken"} (${taken.reason ?? taken.type}): another definition has that name; kubectl get crds lists them, and a kind that was renamed leaves its old one, which kubectl delete crd takes away`;
  const terminating = conditions.find(({ type, status: is }) => type === "Terminating" && is === "True");
  return terminating && "it is being deleted, and its objects with it: save once more when it is gone";
}
