/**
 * Sends the same bytes to a real API server and to the embedded one, over TLS and HTTP/1.1, and
 * prints where their answers differ: the status line, what is said, and whether the connection
 * stays open.
 *
 *     node tests/differential/wire/compare.ts --kubeconfig FILE
 */
import { readFileSync } from "node:fs";
import { connect } from "node:tls";
import { parseArgs } from "node:util";
import { load } from "js-yaml";
import { ControlPlane } from "../../../packages/control-plane/src/control-plane.ts";
import { conclude, count } from "../tally.ts";
import { wireRequests } from "./requests.ts";

const { values } = parseArgs({ options: { kubeconfig: { type: "string" } } });
const kubeconfig = values.kubeconfig ?? process.env.KUBECONFIG;
if (!kubeconfig) throw new Error("say which server to compare with: --kubeconfig FILE");

interface Target {
  readonly host: string;
  readonly port: number;
  readonly cert: Buffer;
  readonly key: Buffer;
}

function targetOf(text: string): Target {
  const { clusters, users } = load(text) as {
    clusters: [{ cluster: { server: string } }];
    users: [{ user: Record<string, string> }];
  };
  const { hostname, port } = new URL(clusters[0].cluster.server);
  const decode = (name: string) => Buffer.from(users[0].user[name] ?? "", "base64");
  return {
    host: hostname,
    port: Number(port),
    cert: decode("client-certificate-data"),
    key: decode("client-key-data"),
  };
}

/** After its answer, a server has this long to end the connection. */
const lingerMs = 200;
const patienceMs = 10_000;

/** Everything that comes back, until the connection ends or is quiet. */
function exchange(target: Target, bytes: string): Promise<{ readonly text: string; readonly end: string }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ ...target, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
    const finish = (end: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: Buffer.concat(chunks).toString("utf8"), end });
    };
    let timer = setTimeout(() => finish("open"), patienceMs);
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (!isWhole(Buffer.concat(chunks).toString("latin1"))) return;
      clearTimeout(timer);
      timer = setTimeout(() => finish("open"), lingerMs);
    });
    // Whether the last bytes are confirmed or not depends on who is faster.
    socket.once("end", () => finish("closed"));
    socket.once("error", () => finish("closed"));
    socket.once("secureConnect", () => socket.write(bytes));
  });
}

function isWhole(text: string): boolean {
  const start = text.lastIndexOf("HTTP/1.");
  const end = text.indexOf("\r\n\r\n", start);
  if (end < 0) return false;
  const head = text.slice(start, end);
  if (/^HTTP\/1\.\d 1\d\d/.test(head)) return false;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return length === undefined ? text.endsWith("0\r\n\r\n") : text.length >= end + 4 + Number(length);
}

/** What an answer says, without what must differ between two servers. */
function summary({ text, end }: { readonly text: string; readonly end: string }): string {
  const answers = text.split(/(?=HTTP\/1\.\d \d)/).map((answer) => {
    const [head = "", ...rest] = answer.split("\r\n\r\n");
    const [status = ""] = head.split("\r\n");
    const type = /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
    return `${status.replace(/^HTTP\/1\.\d /, "")} | ${type} | ${responseText(rest.join("\r\n\r\n"), head)}`;
  });
  return `${answers.join(" || ")} | ${end}`;
}

function responseText(body: string, head: string): string {
  const text = /^transfer-encoding: chunked/im.test(head) ? unchunked(body) : body;
  if (!text.startsWith("{")) return text.trim();
  const { kind, message, reason, code } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify({ kind, message, reason, code });
}

function unchunked(body: string): string {
  const bytes = Buffer.from(body);
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString();
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

await using plane = await ControlPlane.start({ controllers: ["kubernetes-service"], nodes: "none" });
const servers = [targetOf(readFileSync(kubeconfig, "utf8")), targetOf(await plane.kubeconfig())];
const known = new Map<string, number>();
let differing = 0;
for (const { name, bytes, known: reason } of wireRequests) {
  const [real, ours] = (await Promise.all(servers.map((server) => exchange(server, bytes)))).map(summary);
  if (real === ours) continue;
  if (reason !== undefined) {
    count(known, reason);
    continue;
  }
  differing++;
  process.stdout.write(`${name}\n  real ${real?.slice(0, 300)}\n  ours ${ours?.slice(0, 300)}\n`);
}
conclude({ name: "wire", compared: wireRequests.length, differing, known });
