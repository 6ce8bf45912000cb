import { connect, createServer, type Server, type Socket } from "node:net";
import type { Service } from "@windlass/kinds/builtin";
import { eventRecorder } from "../controllers/events.ts";
import { type ControllerDependencies, type Running, startLoop } from "../controllers/loop.ts";
import {
  controllerContext,
  endpointSliceBucket,
  isDeleting,
  serviceBucket,
  stored,
} from "../controllers/objects.ts";
import { within } from "../controllers/ownership.ts";
import { namespaceOf } from "../json-fields.ts";
import type { Registry } from "../registry/registry.ts";
import type { Stored } from "../storage/typed.ts";
import { startListening } from "../streams/start-listening.ts";

/** An endpoint of a Service. */
export interface Backend {
  readonly host: string;
  readonly port: number;
}

/** An address that a Service listens on, and the pods behind it. */
interface Frontend {
  readonly host: string;
  readonly port: number;
  readonly backends: readonly Backend[];
  readonly sticky: boolean;
}

/** A frontend that is listening. */
interface OpenFrontend {
  readonly server: Server;
  frontend: Frontend;
  turn: number;
}

const serviceLabel = "kubernetes.io/service-name";

export interface ServiceProxyOptions {
  /** The node's own addresses, where node ports are. */
  readonly hosts: readonly string[];
  /** Where the API server listens: what `kubernetes` in `default` stands for. */
  readonly apiServer: () => Promise<Backend>;
}

/**
 * Makes Services reachable: at a Service's address, each TCP port takes connections and passes them
 * on to ready pods in turn. Where there are none, nothing listens and connections are refused, as
 * kube-proxy has it.
 */
export function startServiceProxy(
  deps: ControllerDependencies,
  options: ServiceProxyOptions,
): Running & { close(): Promise<void> } {
  const open = new Map<string, Map<string, OpenFrontend>>();
  const sockets = new Set<Socket>();
  const record = eventRecorder(deps.registry, {
    component: "kube-proxy",
    context: controllerContext("kube-proxy", "kube-proxy"),
  });

  const loop = startLoop(deps, {
    name: "service-proxy",
    watches: {
      [serviceBucket.bucket]: ({ key }) => [key],
      [endpointSliceBucket.bucket]: ({ entry }) => {
        const service = entry.object.metadata.labels?.[serviceLabel];
        return service === undefined ? [] : [`${namespaceOf(entry.object)}/${service}`];
      },
    },
    reconcile: async (key) => {
      const service = stored(deps.registry, serviceBucket, key);
      const wanted = service && !isDeleting(service) ? await frontendsOf(service) : [];
      const frontends = open.get(key) ?? new Map<string, OpenFrontend>();
      open.set(key, frontends);
      const places = new Map(wanted.map((frontend) => [`${frontend.host}:${frontend.port}`, frontend]));
      for (const [place, known] of frontends) {
        const frontend = places.get(place);
        if (frontend) known.frontend = frontend;
        else {
          frontends.delete(place);
          await shut(known);
        }
      }
      for (const [place, frontend] of places) {
        if (frontends.has(place)) continue;
        const opened = await openFrontend(frontend, sockets, (error) =>
          deps.onPanic(error, `Service ${key}`),
        );
        if (typeof opened !== "string") frontends.set(place, opened);
        else if (service)
          await record(service, { type: "Warning", reason: "FailedToListen", message: opened });
      }
      if (frontends.size === 0) open.delete(key);
      return undefined;
    },
  });

  async function frontendsOf(service: Stored<Service>): Promise<Frontend[]> {
    const { clusterIP: address = "", type, sessionAffinity, ports = [] } = service.spec ?? {};
    if (!address.startsWith("127.") || type === "ExternalName") return [];
    const isApi = namespaceOf(service) === "default" && service.metadata.name === "kubernetes";
    const sticky = sessionAffinity === "ClientIP";
    const frontends: Frontend[] = [];
    for (const { name = "", port, protocol, nodePort } of ports) {
      if ((protocol || "TCP") !== "TCP") {
        const message = `port ${port} is not served: nodes of real processes pass on TCP alone`;
        await record(service, { type: "Warning", reason: "FailedToListen", message });
        continue;
      }
      const backends = isApi ? [await options.apiServer()] : backendsOf(deps.registry, service, name);
      if (backends.length === 0) continue;
      frontends.push({ host: address, port, backends, sticky });
      if (nodePort === undefined) continue;
      for (const host of options.hosts) frontends.push({ host, port: nodePort, backends, sticky });
    }
    return frontends;
  }

  return {
    get idle() {
      return loop.idle;
    },
    stop: () => loop.stop(),
    close: async () => {
      loop.stop();
      const all = [...open.values()].flatMap((frontends) => [...frontends.values()]);
      open.clear();
      for (const socket of sockets) socket.destroy();
      await Promise.all(all.map(shut));
    },
  };
}

/** Where a Service's port leads: to its ready pods. */
export function backendsOf(registry: Registry, service: Stored<Service>, portName: string): Backend[] {
  const found: Backend[] = [];
  for (const slice of within(registry, endpointSliceBucket, namespaceOf(service))) {
    if (slice.metadata.labels?.[serviceLabel] !== service.metadata.name) continue;
    const port = slice.ports?.find(({ name = "" }) => name === portName)?.port;
    if (port === undefined) continue;
    for (const { conditions, addresses } of slice.endpoints ?? []) {
      const [host] = addresses;
      if (conditions?.ready !== false && host !== undefined) found.push({ host, port });
    }
  }
  return found;
}

/** @returns why it cannot be opened, if it cannot */
async function openFrontend(
  frontend: Frontend,
  sockets: Set<Socket>,
  onError: (error: Error) => void,
): Promise<OpenFrontend | string> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    passOn(socket, opened, sockets);
  });
  const opened: OpenFrontend = { server, frontend, turn: 0 };
  try {
    await startListening(server, { host: frontend.host, port: frontend.port }, onError);
    return opened;
  } catch (error) {
    return whyNot(frontend, error as NodeJS.ErrnoException);
  }
}

function whyNot({ host, port }: Frontend, { code, message }: NodeJS.ErrnoException): string {
  const way =
    code === "EACCES"
      ? ": ports below 1024 are for root here; allow them with `sysctl net.ipv4.ip_unprivileged_port_start=0`, or give the Service another port"
      : code === "EADDRINUSE"
        ? ": something else on this machine listens there, perhaps on all addresses at once"
        : "";
  return `nothing listens on ${host}:${port} (${code ?? message})${way}`;
}

function passOn(socket: Socket, opened: OpenFrontend, sockets: Set<Socket>): void {
  const { backends, sticky } = opened.frontend;
  // All clients are on this machine, so those that are to stay with one pod all stay with the same.
  const backend = backends[sticky ? 0 : opened.turn++ % backends.length];
  if (!backend) {
    socket.resetAndDestroy();
    return;
  }
  const onward = connect({ ...backend, allowHalfOpen: true, noDelay: true });
  for (const one of [socket, onward]) {
    sockets.add(one);
    one.once("close", () => sockets.delete(one));
  }
  socket.once("close", () => onward.destroy());
  socket.on("error", () => onward.destroy());
  onward.on("error", () => socket.resetAndDestroy());
  onward.once("close", () => socket.destroySoon());
  socket.pipe(onward);
  onward.pipe(socket);
}

/**
 * Connections that are open stay open: a Service that goes away, or loses a pod, does not cut them.
 */
function shut({ server }: OpenFrontend): Promise<void> {
  return new Promise((resolve) => {
    server.close();
    resolve();
  });
}
