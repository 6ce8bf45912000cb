import type { WriteRequest } from "../http/write.ts";
import type { JsonObject } from "../json.ts";
import type { Target } from "../registry/identity.ts";
import type { Registry } from "../registry/registry.ts";

/** What a request that opens a conversation asks for, as an object: a command, ports, a path. */
export function connectionOptions(target: Target, query: URLSearchParams, path: string): JsonObject {
  const { subresource = "", resource } = target;
  const kind = resource.info.subresources.find(({ name }) => name === subresource)?.kind?.kind ?? "";
  return { kind, apiVersion: "v1", ...optionsFor(subresource, query, path) };
}

function optionsFor(subresource: string, query: URLSearchParams, path: string): JsonObject {
  if (subresource === "proxy") return path === "" ? {} : { path };
  if (subresource === "portforward") {
    const ports = query.getAll("ports").flatMap((text) => text.split(",").map(Number));
    return ports.length > 0 ? { ports } : {};
  }
  const flags = ["stdin", "stdout", "stderr", "tty"].filter((name) =>
    ["true", "1"].includes(query.get(name) ?? ""),
  );
  const container = query.get("container") ?? "";
  const command = query.getAll("command");
  return {
    ...Object.fromEntries(flags.map((name) => [name, true])),
    ...(container === "" ? {} : { container }),
    ...(subresource === "exec" && command.length > 0 ? { command } : {}),
  };
}

/** Runs admission for CONNECT. @throws StatusError whatever admission says */
export async function admitConnection(
  registry: Registry,
  target: Target,
  { context, query }: Pick<WriteRequest, "context" | "query">,
  path = "",
): Promise<void> {
  await registry.admit(target, connectionOptions(target, query, path), context, "CONNECT");
}
