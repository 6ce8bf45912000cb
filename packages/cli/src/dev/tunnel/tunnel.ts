import { randomBytes } from "node:crypto";
import { type Client, ignoreNotFound, type Transport } from "@windlass/client";
import { Pod, Service } from "@windlass/runtime/kinds";
import { CommandError } from "../../errors.ts";
import { until } from "../until.ts";
import { farEndProgram, ports } from "./far-end.ts";
import { nearEnd, TunnelError } from "./near-end.ts";

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
  /** Ends the wait for its pod. */
  readonly signal: AbortSignal;
}

/** How long a pod may take to start: its image may have to be pulled. And how long to go. */
const startMs = 120_000;
const endMs = 30_000;

/**
 * The pod of a tunnel that nobody closed ends by itself. While somebody uses it, it is made again.
 */
const longestSeconds = 12 * 3_600;

/**
 * Opens a tunnel from a Service of the cluster to a port of this machine, for API servers that do
 * not reach it. It takes the rights to make pods and Services in the namespace, and to proxy to
 * pods.
 *
 * @throws CommandError if its pod does not start
 */
export async function openTunnel(parts: TunnelParts): Promise<Tunnel> {
  const { client, namespace, name, image, say } = parts;
  const key = { namespace, name };
  const removePod = async (signal: AbortSignal) => {
    await ignoreNotFound(client.delete(Pod, key, { gracePeriodSeconds: 0 }));
    await until(client, Pod, key, { timeoutMs: endMs, signal }, (pod) =>
      pod === undefined ? true : undefined,
    );
  };
  const remove = async (signal: AbortSignal) => {
    await ignoreNotFound(client.delete(Service, key));
    await removePod(signal);
  };
  await remove(parts.signal);
  const token = randomBytes(16).toString("hex");
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "windlass-dev" };
  await client.create(Service, {
    metadata: { ...key, labels },
    spec: { selector: labels, ports: [{ port: 443, targetPort: ports.calls }] },
  });
  const startPod = async (signal: AbortSignal) => {
    await client.create(Pod, { metadata: { ...key, labels }, spec: podSpec(image, token) });
    say(`pod ${namespace}/${name} starts, of ${image}`);
    await podIsReady(parts, key, signal);
  };
  try {
    await startPod(parts.signal);
  } catch (error) {
    await remove(AbortSignal.timeout(endMs));
    throw error;
  }
  const end = new AbortController();
  const running = nearEnd({
    transport: parts.transport,
    path: `/api/v1/namespaces/${namespace}/pods/${name}:${ports.control}/proxy`,
    token,
    port: parts.port,
    signal: end.signal,
    onState: say,
    // It was evicted, has reached its age, or lost its node.
    mend: async (signal) => {
      const pod = await ignoreNotFound(client.get(Pod, key, { signal }));
      if (pod !== undefined && !isOver(pod)) return;
      if (pod !== undefined) await removePod(signal);
      await startPod(signal).catch((error: unknown) => {
        if (error instanceof CommandError) throw new TunnelError(error.message, { cause: error });
        throw error;
      });
    },
  }).catch((error: unknown) => say(`the tunnel ended: ${String(error)}`));
  return {
    service: { ...key, port: 443 },
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await running;
      await remove(AbortSignal.timeout(endMs)).catch((error: unknown) => {
        // After Ctrl-C the error itself is not shown.
        const why = error instanceof Error ? error.message : String(error);
        parts.say(`pod and Service ${namespace}/${name} are still there: ${why}`);
        throw error;
      });
    },
  };
}

/**
 * Waits until a pod is ready, and says meanwhile what it waits for.
 *
 * @throws CommandError if that takes too long, or the pod ends
 */
async function podIsReady(
  { client, say }: TunnelParts,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  let why = "it is gone";
  let told = "";
  const found = await until(client, Pod, key, { timeoutMs: startMs, signal }, (pod) => {
    if (pod === undefined) return "over";
    if (isReadyNow(pod)) return "ready";
    why = whyNotReady(pod);
    if (isOver(pod)) return "over";
    if (why !== told) say(`waiting for it: ${why}`);
    told = why;
    return undefined;
  });
  if (found === "ready") return;
  throw new CommandError(
    `the pod of the tunnel does not start: ${why}; name another image with --tunnel-image`,
  );
}

function isReadyNow({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** Whether a pod will not run any more. */
function isOver({ metadata, status }: Pod): boolean {
  return ["Failed", "Succeeded"].includes(status?.phase ?? "") || metadata.deletionTimestamp !== undefined;
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
