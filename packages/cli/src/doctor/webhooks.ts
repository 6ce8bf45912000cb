import { ApiError, type Client, ignoreNotFound, isForbidden, TransportError } from "@windlass/client";
import type { WebhookServer } from "@windlass/runtime";
import {
  CustomResourceDefinition,
  EndpointSlice,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import type { Operator } from "../generate/resolve.ts";
import { certificateFinding } from "./certificate.ts";
import { type Finding, fault, fine, skipped } from "./finding.ts";

const byOperator = "the operator puts it in once it runs: look at its log";

/** Whether the API server has the address of the webhooks, trusts them, and reaches them. */
export async function examineWebhooks(
  client: Client,
  operator: Operator,
  namespace: string,
  now: number,
): Promise<readonly Finding[]> {
  const { webhooks, name } = operator;
  if (webhooks === undefined) return [];
  return [
    ...(await examineConfigurations(client, webhooks, namespace, now)),
    ...(await examineConversions(client, operator, now)),
    ...(await examineService(client, `${name}-webhook`, namespace)),
  ];
}

async function examineConfigurations(
  client: Client,
  webhooks: WebhookServer,
  namespace: string,
  now: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const configuration of webhooks.configurations({ namespace })) {
    const { kind, metadata } = configuration;
    const { name } = metadata;
    const about = `${kind} ${name}`;
    const read = async () =>
      kind === "MutatingWebhookConfiguration"
        ? await client.get(MutatingWebhookConfiguration, { name })
        : await client.get(ValidatingWebhookConfiguration, { name });
    const present = await ignoreNotFound(read());
    if (present === undefined)
      findings.push(fault(about, "is not installed", "kubectl apply --server-side -k config/default"));
    for (const webhook of present?.webhooks ?? [])
      findings.push(trustFinding(`Webhook ${webhook.name}`, webhook.clientConfig.caBundle, now));
  }
  return findings;
}

async function examineConversions(
  client: Client,
  { kinds }: Operator,
  now: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { plural, group, versions } of kinds) {
    if (versions.length < 2) continue;
    const name = `${plural}.${group}`;
    const present = await ignoreNotFound(client.get(CustomResourceDefinition, { name }));
    const config = present?.spec.conversion?.webhook?.clientConfig;
    if (config !== undefined) findings.push(trustFinding(`Conversion of ${name}`, config.caBundle, now));
  }
  return findings;
}

function trustFinding(about: string, caBundle: string | undefined, now: number): Finding {
  if (caBundle === undefined || caBundle === "") return fault(about, "has no caBundle", byOperator);
  return certificateFinding(about, Buffer.from(caBundle, "base64").toString(), now, byOperator);
}

async function examineService(client: Client, name: string, namespace: string): Promise<readonly Finding[]> {
  const about = `Service ${name}`;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const { items } = await client.list(EndpointSlice, { namespace, labelSelector });
  const endpoints = items.flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false).length;
  if (ready === 0)
    return [
      fault(
        about,
        "leads to no pod that is ready",
        `kubectl -n ${namespace} get pods,endpointslices -o wide`,
      ),
    ];
  return [fine(about, `leads to ${ready} pods`), await examineReach(client, name, namespace)];
}

/**
 * Has the API server itself call the Service: what it says does not matter, only that somebody
 * answers.
 */
async function examineReach(client: Client, name: string, namespace: string): Promise<Finding> {
  const about = "Webhooks from the API server";
  const path = `/api/v1/namespaces/${namespace}/services/https:${name}:443/proxy/`;
  const remedy =
    "a firewall, a NetworkPolicy or the CNI stands between the API server and the pods' port 9443: let it through";
  try {
    await client.text({ path, signal: AbortSignal.timeout(10_000) });
    return fine(about, "reachable");
  } catch (error) {
    if (isForbidden(error)) return skipped(about, "only those may ask who may proxy to services");
    if (error instanceof ApiError && error.status.code === 501)
      return skipped(about, "this server does not proxy");
    if (error instanceof ApiError && (error.status.code ?? 500) < 500) return fine(about, "reachable");
    if (error instanceof ApiError || error instanceof TransportError)
      return fault(about, error.message, remedy);
    throw error;
  }
}
