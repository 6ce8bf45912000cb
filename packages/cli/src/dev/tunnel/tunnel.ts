import { randomBytes } from "node:crypto";
import { type Client, isNotFound, type Transport } from "@windlass/client";
import { Pod, Service } from "@windlass/runtime/kinds";
import { WaitError, waitForCondition, waitForDeletion } from "@windlass/testing";
import { CommandError } from "../../errors.ts";
import { farEndProgram, ports } from "./far-end.ts";
import { nearEnd } from "./near-end.ts";

/** A Service of a cluster whose connections end on this machine. */
export interface Tunnel extends AsyncDisposable {
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
}

/** What a tunnel needs. */
export interface TunnelParts {
  readonly client: Client;
  /** To the same API server, without repetitions. */
  readonly transport: Transport;
  readonly namespace: string;
  /** Of the pod and of the Service. What is left of an earlier one is deleted. */
  readonly name: string;
  /** An image that has Node 24 on its PATH. */
  readonly image: string;
  /** The port of this machine that connections lead to. */
  readonly port: number;
  readonly say: (words: string) => void;
}

/** How long a pod may take to start: its image may have to be pulled. */
const patience = { timeout: 120_000 };

/** A tunnel that nobody closed ends by itself. */
const longestSeconds = 12 * 3_600;

/**
 * Opens a tunnel from a Service of the cluster to a port of this machine, for API servers that do
 * not reach it. It takes the rights to make pods and Services in the namespace, and to proxy to
 * pods.
 *
 * @throws CommandError if its pod does not start
 */
export async function openTunnel(parts: TunnelParts): Promise<Tunnel> {
  const { client, namespace, name, image } = parts;
  const key = { namespace, name };
  const remove = async () => {
    for (const kind of [Pod, Service] as const)
      await client.delete(kind as typeof Pod, key, { gracePeriodSeconds: 0 }).catch(ignoreNotFound);
    await waitForDeletion(client, Pod, key);
  };
  await remove();
  const token = randomBytes(16).toString("hex");
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "windlass-dev" };
  await client.create(Service, {
    metadata: { ...key, labels },
    spec: { selector: labels, ports: [{ port: 443, targetPort: ports.calls }] },
  });
  await client.create(Pod, { metadata: { ...key, labels }, spec: podSpec(image, token) });
  await waitForCondition(client, Pod, key, "Ready", "True", patience).catch(async (error: unknown) => {
    if (!(error instanceof WaitError)) throw error;
    const why = whyNotReady(await client.get(Pod, key));
    await remove();
    throw new CommandError(
      `the pod of the tunnel does not start: ${why}; name another image with --tunnel-image`,
    );
  });
  const end = new AbortController();
  const running = nearEnd({
    transport: parts.transport,
    path: `/api/v1/namespaces/${namespace}/pods/${name}:${ports.control}/proxy`,
    token,
    port: parts.port,
    signal: end.signal,
    onState: parts.say,
  }).catch((error: unknown) => parts.say(`the tunnel ended: ${String(error)}`));
  return {
    service: { ...key, port: 443 },
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await running;
      await remove().catch((error: unknown) => {
        // After Ctrl-C the error itself is not shown.
        const why = error instanceof Error ? error.message : String(error);
        parts.say(`pod and Service ${namespace}/${name} are still there: ${why}`);
        throw error;
      });
    },
  };
}

/** As the Pod Security Standard `restricted` wants it. */
function podSpec(image: string, token: string) {
  return {
    activeDeadlineSeconds: longestSeconds,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 0,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [
      {
        name: "tunnel",
        image,
        command: ["node", "--eval", farEndProgram()],
        env: [{ name: "TOKEN", value: token }],
        ports: [{ containerPort: ports.calls }, { containerPort: ports.control }],
        readinessProbe: { tcpSocket: { port: ports.control }, periodSeconds: 1 },
        resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
      },
    ],
  } as const;
}

function whyNotReady({ status }: Pod): string {
  const [container] = status?.containerStatuses ?? [];
  const { waiting, terminated } = container?.state ?? {};
  const { reason, message } = waiting ?? terminated ?? { reason: status?.reason, message: status?.message };
  const unscheduled = status?.conditions?.find(
    ({ type, status: is }) => type === "PodScheduled" && is === "False",
  );
  return (
    [reason, message, unscheduled?.message].filter((words) => words !== undefined).join(": ") ||
    "it is not ready"
  );
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
