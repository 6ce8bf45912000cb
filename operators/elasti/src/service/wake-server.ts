import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Runnable, RunnableContext } from "@windlass/runtime";
import { claimantOf } from "./claim.ts";
import { ElastiService, type ElastiServiceObject } from "./elasti-service.ts";
import { wakeAnnotation } from "./names.ts";
import { phaseOf } from "./position.ts";

/** How wake requests are taken. */
export interface WakeServerOptions {
  /** @default 8013 */
  readonly port?: number;
  /** @default all addresses */
  readonly host?: string;
  /** Whether a bearer token may ask for a wake. @default all who reach the port may */
  readonly authorize?: (
    token: string | undefined,
    context: Pick<RunnableContext, "client" | "clock" | "signal">,
  ) => Promise<boolean>;
  /** Called with the port once it listens. */
  readonly onListening?: (port: number) => void;
}

/** What a resolver reports: so many requests wait for a service. */
interface Notification {
  readonly namespace: string;
  readonly service: string;
  readonly waiting: number;
}

type Answer = readonly [status: number, body: Readonly<Record<string, unknown>>];

const path = "/informer/incoming-request";
const longestBody = 16_384;
const longestMs = 30_000;

/**
 * Takes the resolver's requests to wake a service, on every replica:
 * `POST /informer/incoming-request` with `{"svc", "namespace", "count"}`, as the original's
 * resolver sends them.
 *
 * It writes the annotation that the leader wakes by, and nothing else: one writer of scales means
 * that a wake and a sleep cannot cross. The price is that a wake waits for the next leader when the
 * last one was killed. Asking again changes nothing, unless there are many more requests than
 * before.
 */
export function wakeServer(options: WakeServerOptions = {}): Runnable {
  return {
    name: "wake-server",
    stage: "everywhere",
    start: async (context) => {
      const informer = context.informer(ElastiService);
      informer.addIndex("wakes", ({ metadata, spec }) => [`${metadata.namespace}/${spec.service}`]);
      await informer.synced;
      const server = createServer(
        { headersTimeout: 2_000, requestTimeout: longestMs },
        (request, response) => {
          const find = (key: string) => claimantOf(informer.byIndex("wakes", key));
          void respond(response, answerTo(request, context, find, options), context);
        },
      );
      server.listen(options.port ?? 8_013, options.host);
      await once(server, "listening");
      options.onListening?.((server.address() as AddressInfo).port);
      return () => {
        informer.release();
        return closed(server);
      };
    },
  };
}

type Find = (key: string) => ElastiServiceObject | undefined;

async function respond(
  response: ServerResponse,
  answering: Promise<Answer>,
  { log }: RunnableContext,
): Promise<void> {
  const [status, body] = await answering.catch((error: unknown): Answer => {
    log.error({ err: error }, "a wake could not be written");
    return [503, { accepted: false, message: "the wake could not be written: ask again" }];
  });
  const retry = status === 503 && { "retry-after": "1" };
  response.writeHead(status, { "content-type": "application/json", ...retry }).end(JSON.stringify(body));
}

async function answerTo(
  request: IncomingMessage,
  context: RunnableContext,
  find: Find,
  { authorize }: WakeServerOptions,
): Promise<Answer> {
  const [pathname] = (request.url ?? "").split("?", 1);
  if (pathname !== path) return [404, { message: `there is only ${path}` }];
  if (request.method !== "POST") return [405, { message: "Invalid request method" }];
  const [, token] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (authorize && !(await authorize(token, context)))
    return [401, { message: "a service account token is needed that may wake services" }];
  const notification = parse(await bodyOf(request));
  if (!notification) return [400, { message: "Invalid request body" }];
  const elasti = find(`${notification.namespace}/${notification.service}`);
  if (!elasti) return [404, { message: "there is no ElastiService for this Service" }];
  await ask(elasti, notification, context);
  return [202, { message: "Request received successfully!", accepted: true, phase: elasti.status?.phase }];
}

/** Asks the leader to wake a service, unless it has been asked already. */
async function ask(
  cached: ElastiServiceObject,
  { waiting }: Notification,
  { client }: RunnableContext,
): Promise<void> {
  const { namespace, name } = cached.metadata;
  // No request waits at a service that serves. Either the resolver does not know yet that it
  // serves, or this replica does not know yet that it no longer does, and a wake that is taken and
  // forgotten would not be asked for again for seconds.
  const isServing = phaseOf(cached) === "Serving";
  const elasti = isServing ? await client.get(ElastiService, { namespace, name }) : cached;
  if (phaseOf(elasti) === "Serving") return;
  const known = Number.parseInt(elasti.metadata.annotations?.[wakeAnnotation] ?? "", 10);
  if (known * 2 > waiting) return;
  const patch = { metadata: { annotations: { [wakeAnnotation]: String(waiting) } } };
  await client.patch(ElastiService, { namespace, name }, { type: "merge", patch });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request as AsyncIterable<string>) {
    text += chunk;
    if (text.length > longestBody) return "";
  }
  return text;
}

function parse(text: string): Notification | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { svc, namespace, count } = value as Readonly<Record<string, unknown>>;
    if (typeof svc !== "string" || typeof namespace !== "string") return undefined;
    const isCount = typeof count === "number" && Number.isSafeInteger(count) && count > 0;
    return { service: svc, namespace, waiting: isCount ? count : 1 };
  } catch {
    return undefined;
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
