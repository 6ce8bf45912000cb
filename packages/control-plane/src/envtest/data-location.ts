import { get } from "node:http";
import { join } from "node:path";
import { sleep, systemClock } from "@windlass/clock";
import { folderPath } from "./etcd.ts";

/** How long an `etcd` that was started at the same time is waited for. */
const patienceMs = 20_000;

/**
 * The file that an API server keeps its data in.
 *
 * @param servers the URLs of --etcd-servers
 * @param prefix of --etcd-prefix: API servers with different ones share nothing
 * @throws Error where no `etcd` of this package answers
 */
export async function dataFileBehind(servers: readonly string[], prefix: string): Promise<string> {
  const [server] = servers;
  if (server === undefined) throw new Error("--etcd-servers must be specified");
  const { folder } = await answerOf(new URL(folderPath, server));
  if (folder === undefined) {
    throw new Error(
      `--etcd-servers: ${server} is another etcd: this kube-apiserver needs the one from its own folder`,
    );
  }
  return join(folder, `${prefix.replace(/^\/+/, "").replaceAll(/[^\w.-]/g, "_")}.windlass`);
}

async function answerOf(url: URL): Promise<{ readonly folder?: string }> {
  const deadline = systemClock.monotonic() + patienceMs;
  for (;;) {
    try {
      return await ask(url);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ECONNREFUSED") throw error;
      if (systemClock.monotonic() > deadline) {
        throw new Error(`--etcd-servers: nothing answers at ${url.origin}`, { cause: error });
      }
      await sleep(systemClock, 50);
    }
  }
}

function ask(url: URL): Promise<{ readonly folder?: string }> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve(response.statusCode === 200 ? (JSON.parse(text) as { folder?: string }) : {});
      });
    });
    asked.on("error", reject);
  });
}
