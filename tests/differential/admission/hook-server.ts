import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority } from "@windlass/certificates";

export type Review = Record<string, unknown> & {
  request: Record<string, unknown> & { uid: string; object: Record<string, unknown> | null };
};

/**
 * What a webhook answers: a response to the review, a whole HTTP answer, or nothing for as long as
 * it is asked.
 */
export type Behaviour = (
  review: Review,
) => { response: object } | { status: number; type?: string; text: string } | "hang" | "cut";

/** Webhooks under one address: each path behaves as the test asks, and everything sent is kept. */
export interface HookServer {
  readonly url: string;
  readonly authority: string;
  readonly seen: { path: string; headers: Record<string, unknown>; review: Review }[];
  readonly behaviours: Map<string, Behaviour>;
  close(): Promise<void>;
}

const day = 24 * 3_600_000;

/** @param host an address of this machine that both servers can reach */
export async function openHooks(host: string): Promise<HookServer> {
  const authority = createAuthority({ commonName: "hooks", validFor: day });
  const serving = authority.issue({
    commonName: "hooks",
    ipAddresses: [host],
    usages: ["server"],
    validFor: day,
  });
  const seen: HookServer["seen"] = [];
  const behaviours = new Map<string, Behaviour>();
  const server = createServer({ cert: serving.certificate, key: serving.key }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Review;
      const url = incoming.url ?? "";
      seen.push({ path: url, headers: { ...incoming.headers }, review });
      const name = url.slice(1).split("?")[0] as string;
      const done = behaviours.get(name)?.(review) ?? { status: 404, text: "no such webhook" };
      if (done === "hang") return;
      if (done === "cut") {
        incoming.socket.destroy();
        return;
      }
      if ("text" in done) {
        outgoing.writeHead(done.status, done.type === undefined ? {} : { "content-type": done.type });
        outgoing.end(done.text);
        return;
      }
      outgoing.writeHead(200, { "content-type": "application/json" });
      const { kind, apiVersion } = review;
      outgoing.end(
        JSON.stringify({ kind, apiVersion, response: { uid: review.request.uid, ...done.response } }),
      );
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    authority: authority.certificate,
    seen,
    behaviours,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
