import type { Pod } from "@windlass/kinds/builtin";
import type { ApiResponse } from "../http/request.ts";
import { type LogQuery, written } from "../processes/container-log.ts";
import type { ContainerRun, ProcessRuntime } from "../processes/index.ts";
import type { Target } from "../registry/identity.ts";
import type { Registry } from "../registry/registry.ts";
import { badRequest, notFound } from "../status.ts";
import { type Stored, typed } from "../storage/typed.ts";
import { type Behaviors, logsOf } from "./behaviors.ts";

/** Answers for the subresources of pods that only their node can answer for. */
export interface LogHandlers {
  readonly "pods/log": (
    deps: { readonly registry: Registry },
    target: Target,
    info: unknown,
    write: { readonly query: URLSearchParams },
  ) => Promise<ApiResponse>;
  /** Paths by which others may be added. */
  readonly [path: string]: LogHandlers["pods/log"];
}

/** `kubectl logs`: what a pod's processes wrote, or what its behavior says that it did. */
export function logHandlers(behaviors: Behaviors, runtime: () => ProcessRuntime | undefined): LogHandlers {
  return {
    "pods/log": async ({ registry }, { resource, namespace, name }, _info, { query }) => {
      const pod = typed<Pod>(registry.entry({ resource, namespace, name }).object);
      const container = chosenContainer(pod, query.get("container") ?? "");
      const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
      const status = [...containerStatuses, ...initContainerStatuses].find((one) => one.name === container);
      const reason = status?.state?.waiting?.reason;
      const ran = status?.lastState?.terminated !== undefined;
      if (query.get("previous") === "true" && !ran) {
        throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
      }
      if (status === undefined || (reason !== undefined && !ran)) {
        throw badRequest(
          `container "${container}" in pod "${name}" is waiting to start: ${reason || "ContainerCreating"}`,
        );
      }
      const processes = behaviors.hasBehavior(pod) ? undefined : runtime();
      if (processes) {
        const which = query.get("previous") === "true" ? "previous" : "latest";
        const latest = processes.runOf(pod, container, which);
        // One that was not started again yet is the one to show.
        const run = latest ?? processes.runOf(pod, container);
        if (!run) {
          return plain(`unable to retrieve container logs for ${status.containerID ?? ""}`);
        }
        return { ...plain(""), body: processLog(run, readQuery(query, registry.clock.now()), query) };
      }
      const text = cut(logsOf(behaviors.of(pod, container), pod, container), query);
      return plain(text);
    },
  };
}

function plain(text: string): ApiResponse {
  return {
    status: 200,
    headers: { "cache-control": "no-cache, private", "content-type": "text/plain" },
    body: text,
  };
}

function processLog({ log }: ContainerRun, wanted: LogQuery, query: URLSearchParams): ApiResponse["body"] {
  if (query.get("follow") !== "true") return log.read(wanted);
  return (sink) => {
    let left = wanted.limitBytes ?? Number.POSITIVE_INFINITY;
    const send = (bytes: Buffer) => {
      if (bytes.byteLength > 0) sink.write(bytes.byteLength > left ? bytes.subarray(0, left) : bytes);
      left -= bytes.byteLength;
      if (left <= 0) sink.end();
    };
    send(log.read(wanted));
    return log.follow((line) => {
      if (line === undefined) sink.end();
      else if (left > 0 && (wanted.stream ?? line.stream) === line.stream) send(written(line, wanted));
    });
  };
}

function readQuery(query: URLSearchParams, now: number): LogQuery {
  const number = (name: string) => {
    const value = query.get(name);
    return value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
  };
  const tailLines = number("tailLines");
  const limitBytes = number("limitBytes");
  const seconds = number("sinceSeconds");
  const time = Date.parse(query.get("sinceTime") ?? "");
  const sinceMs = seconds === undefined ? (Number.isNaN(time) ? undefined : time) : now - seconds * 1_000;
  const stream = query.get("stream");
  return {
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(query.get("timestamps") === "true" ? { timestamps: true } : {}),
    ...(stream === "Stdout" ? { stream: "stdout" } : stream === "Stderr" ? { stream: "stderr" } : {}),
  };
}

/** The container that is meant. @throws StatusError 400 if there is none such, or several */
export function chosenContainer(pod: Stored<Pod>, named: string): string {
  const main = pod.spec.containers.map(({ name }) => name);
  const inits = (pod.spec.initContainers ?? []).map(({ name }) => name);
  const podName = pod.metadata.name;
  if (named !== "") {
    if (main.includes(named) || inits.includes(named)) return named;
    throw badRequest(`container ${named} is not valid for pod ${podName}`);
  }
  const usual = pod.metadata.annotations?.["kubectl.kubernetes.io/default-container"];
  if (usual !== undefined && main.includes(usual)) return usual;
  const [only] = main;
  if (only === undefined) throw notFound({ group: "", resource: "pods" }, podName);
  if (main.length + inits.length === 1) return only;
  const choices = `[${main.join(" ")}]${inits.length > 0 ? ` or one of the init containers: [${inits.join(" ")}]` : ""}`;
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: ${choices}`);
}

/** The part of the text that was asked for. */
function cut(text: string, query: URLSearchParams): string {
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const tail = Number(query.get("tailLines") ?? "NaN");
  const lines = whole.split("\n").slice(0, -1);
  const kept = Number.isInteger(tail) && tail >= 0 ? lines.slice(Math.max(0, lines.length - tail)) : lines;
  const joined = kept.map((line) => `${line}\n`).join("");
  const limit = Number(query.get("limitBytes") ?? "NaN");
  return Number.isInteger(limit) && limit > 0 ? Buffer.from(joined).subarray(0, limit).toString() : joined;
}
