import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { resolve } from "node:path";
import { startListening } from "../streams/start-listening.ts";
import { flagHelp, lastOf, listOf, readFlags } from "./flags.ts";

const flags = {
  values: ["data-dir", "listen-client-urls", "advertise-client-urls", "listen-peer-urls", "name"],
  switches: ["unsafe-no-fsync", "help", "h", "version"],
};

/** Where the `kube-apiserver` next to it asks for the folder that data is kept in. */
export const folderPath = "/windlass/data-folder";

const version = { etcdserver: "3.6.6", etcdcluster: "3.6.0", storage: "3.6.0" };

/**
 * Stands in for `etcd` beside our `kube-apiserver`: says that it is healthy, and where data is
 * kept. The API server keeps it there itself, in SQLite, so this needs no more than an open port.
 */
export async function runEtcd(args: readonly string[]): Promise<void> {
  const given = readFlags(args, flags);
  if (given.has("help") || given.has("h")) {
    process.stdout.write(flagHelp("etcd", flags));
    return;
  }
  if (given.has("version")) {
    process.stdout.write(`etcd Version: ${version.etcdserver}\n`);
    return;
  }
  const folder = resolve(lastOf(given, "data-dir") ?? `${lastOf(given, "name") ?? "default"}.etcd`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const urls = listOf(given, "listen-client-urls");
  const servers = await Promise.all(
    (urls.length > 0 ? urls : ["http://localhost:2379"]).map((url) => serve(new URL(url), folder)),
  );
  const stop = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
}

async function serve({ hostname, port, protocol }: URL, folder: string): Promise<Server> {
  if (protocol !== "http:")
    throw new Error(`--listen-client-urls: ${protocol} is not served here, only http:`);
  const answers: Readonly<Record<string, object | string>> = {
    "/health": { health: "true", reason: "" },
    "/livez": "ok",
    "/readyz": "ok",
    "/version": version,
    [folderPath]: { folder },
  };
  const server = createServer(({ url = "" }, response) => {
    const answer = answers[url.split("?")[0] ?? ""];
    if (answer === undefined) response.writeHead(404).end("404 page not found\n");
    else response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  const place = { port: Number(port) || 2379, host: hostname.replace(/^\[|\]$/g, "") };
  await startListening(server, place, ({ message }) => process.stderr.write(`etcd: ${message}\n`));
  return server;
}
