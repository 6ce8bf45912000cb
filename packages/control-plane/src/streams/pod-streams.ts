import type { Pod, Service } from "@windlass/kinds/builtin";
import type { User } from "../auth/index.ts";
import type { ApiResponse } from "../http/request.ts";
import type { SubresourceDependencies } from "../http/subresources.ts";
import type { WriteRequest } from "../http/write.ts";
import { chosenContainer, type SimulatedNodes } from "../node/index.ts";
import type { Target } from "../registry/identity.ts";
import { forbidden, internalError, type StatusError, unsupported } from "../status.ts";
import { typed } from "../storage/typed.ts";
import { admitConnection } from "./connection-options.ts";

type Handler = (
  deps: SubresourceDependencies,
  target: Target,
  info: unknown,
  write: WriteRequest,
) => Promise<ApiResponse>;

/**
 * Answers for the subresources of pods that go on as a conversation: `exec`, `attach` and
 * `portforward`.
 */
export function podStreams(nodes: SimulatedNodes): { readonly [path: string]: Handler } {
  return {
    "pods/exec": async (deps, target, _info, write) => {
      const run = await containerOf(nodes, deps, target, write);
      const { exec } = await import("./remote-command.ts");
      return exec(write.request, write.query, run);
    },
    "pods/attach": async (deps, target, _info, write) => {
      const run = await containerOf(nodes, deps, target, write);
      const { attach } = await import("./remote-command.ts");
      return attach(write.request, write.query, run);
    },
    "pods/portforward": async (deps, target, _info, write) => {
      const { object } = await opened(nodes, deps, target, write);
      const { portForward } = await import("./port-forward.ts");
      return portForward(write.request, write.query, typed<Pod>(object).status?.podIP ?? "");
    },
  };
}

/**
 * Answers for requests that are passed on to a program in a pod: `pods/proxy` and `services/proxy`.
 */
export function podProxies(nodes: SimulatedNodes): { readonly [path: string]: Handler } {
  return {
    "pods/proxy": async (deps, target, _info, write) => {
      const { passHttpOn, podBackend, proxyName } = await import("./http-proxy.ts");
      const named = proxyName(target.name);
      const { subresource: _proxy, ...podTarget } = target;
      await admitConnection(deps.registry, target, write, pathBehind(write).split("?")[0]);
      const { object } = deps.registry.entry({ ...podTarget, name: named.name });
      const pod = typed<Pod>(object);
      if (!nodes.runsProcesses(pod)) throw simulated("proxy");
      return await passHttpOn(write.request, named, podBackend(pod, named.port), pathBehind(write));
    },
    "services/proxy": async (deps, target, _info, write) => {
      const { passHttpOn, proxyName, serviceBackend } = await import("./http-proxy.ts");
      const named = proxyName(target.name);
      const { subresource: _proxy, ...serviceTarget } = target;
      await admitConnection(deps.registry, target, write, pathBehind(write).split("?")[0]);
      const { object } = deps.registry.entry({ ...serviceTarget, name: named.name });
      if (!nodes.hasProcesses) throw simulated("proxy");
      const backend = serviceBackend(deps.registry, typed<Service>(object), named.port);
      return await passHttpOn(write.request, named, backend, pathBehind(write));
    },
  };
}

/** What follows `proxy` in a path, as it was sent. */
function pathBehind({ request }: WriteRequest): string {
  const [path = "", query] = request.url.split(/\?(.*)/s);
  const [, behind = "/"] = /\/(?:pods|services)\/[^/]+\/proxy(\/.*)?$/.exec(path) ?? [];
  return query === undefined ? behind : `${behind}?${query}`;
}

function simulated(what: string): StatusError {
  return unsupported(
    `${what} for pods that are simulated: start it with --processes, or in code with processes, to run them for real`,
  );
}

/** A pod that may be talked to, by this user. @throws StatusError */
async function opened(
  nodes: SimulatedNodes,
  deps: SubresourceDependencies,
  target: Target,
  write: WriteRequest,
) {
  const { subresource = "", ...podTarget } = target;
  const { user } = write.context;
  // Even with GET these need the permission to create, since Kubernetes 1.35.
  const attributes = {
    verb: "create",
    group: "",
    resource: "pods",
    subresource,
    name: target.name,
    ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
  };
  const { allowed, reason } = deps.authorizer.authorize(user as User, attributes);
  if (!allowed) throw forbidden({ group: "", resource: "pods" }, target.name, reason ?? "");
  await admitConnection(deps.registry, target, write);
  const entry = deps.registry.entry(podTarget);
  if (!nodes.runsProcesses(typed<Pod>(entry.object))) {
    throw simulated(subresource);
  }
  return entry;
}

/** A run of the container that is meant. @throws StatusError */
async function containerOf(
  nodes: SimulatedNodes,
  deps: SubresourceDependencies,
  target: Target,
  write: WriteRequest,
) {
  const { object } = await opened(nodes, deps, target, write);
  const pod = typed<Pod>(object);
  const container = chosenContainer(pod, write.query.get("container") ?? "");
  const run = nodes.runOf(pod, container);
  if (run?.observed.at !== "running" && run?.observed.at !== "starting") {
    throw internalError(`unable to upgrade connection: container not found ("${container}")`);
  }
  return run;
}
