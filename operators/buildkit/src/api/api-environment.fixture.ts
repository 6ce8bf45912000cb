import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import type { TLSSocket } from "node:tls";
import type { KeyPair } from "@windlass/certificates";
import type { Client } from "@windlass/client";
import { type Logger, type Manager, type ManagerOptions, manager, silentLogger } from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";
import { PoolTestEnvironment, systemNamespace } from "../allocation/pool-environment.fixture.ts";
import { audience, FakeIssuer } from "../identity/issuer.fixture.ts";
import { BuildKitOIDCConfig } from "../oidc/oidc-config.ts";
import { type AllocationApiOptions, allocationApi } from "./runnable.ts";

/** What a request was answered with. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // Whatever the server has sent: tests say what they expect.
  readonly body: Readonly<Record<string, unknown>>;
  /** SHA-256 of the server's certificate. */
  readonly certificate: string;
}

export interface Asked {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly pair?: KeyPair;
  readonly replica?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A line of the audit log. */
export type AuditLine = Readonly<Record<string, unknown>>;

/** Replicas of the API on real sockets, an issuer that they trust, and pools. */
export class ApiTestEnvironment implements AsyncDisposable {
  readonly pools: PoolTestEnvironment;
  readonly issuer: FakeIssuer;
  readonly audit: AuditLine[] = [];
  readonly managers: Manager[] = [];
  readonly ports: number[] = [];
  readonly #agents = new Map<string, Agent>();

  private constructor(pools: PoolTestEnvironment, issuer: FakeIssuer) {
    this.pools = pools;
    this.issuer = issuer;
  }

  static async start(
    options: Partial<AllocationApiOptions> & { replicas?: number } = {},
  ): Promise<ApiTestEnvironment> {
    const { replicas = 2, ...own } = options;
    const environment = new ApiTestEnvironment(await PoolTestEnvironment.start(), await FakeIssuer.start());
    await environment.client.create(BuildKitOIDCConfig, {
      metadata: { namespace: systemNamespace, name: "github" },
      spec: {
        issuer: environment.issuer.url,
        audience,
        claimsMapping: { user: "actor" },
        requiredClaims: { repository: "acme/*" },
        caBundle: environment.issuer.authority.certificate,
      },
    });
    for (let index = 0; index < replicas; index++) await environment.replica(own);
    return environment;
  }

  get client(): Client {
    return this.pools.cluster.client;
  }

  get namespace(): string {
    return this.pools.namespace;
  }

  async replica(
    own: Partial<AllocationApiOptions> = {},
    managing: Pick<ManagerOptions, "namespaces"> = {},
  ): Promise<Manager> {
    const log: Logger = { ...silentLogger, info: this.#logged, warn: this.#logged, child: () => log };
    const running = await this.pools.cluster.run("buildkit-api", (options) =>
      manager({ ...options, ...managing, log, metrics: { port: 0, host: "127.0.0.1" } }).add(
        allocationApi({
          client: options.client as Client,
          namespace: systemNamespace,
          port: 0,
          host: "127.0.0.1",
          acceptFor: 0,
          admins: { users: ["boss"] },
          onListening: (port) => this.ports.push(port),
          ...own,
        }),
      ),
    );
    this.managers.push(running);
    return running;
  }

  readonly #logged = (fields: object | string) => {
    if (typeof fields === "object" && "decision" in fields) this.audit.push({ ...fields });
  };

  /** The metrics of all replicas. */
  async metrics(): Promise<string> {
    const all = this.managers.map(async ({ ports }) =>
      (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text(),
    );
    return (await Promise.all(all)).join("");
  }

  /** A token for a user, by default one that the pool's rule admits. */
  token(actor = "octocat", claims: Record<string, unknown> = {}): string {
    return this.issuer.token({ actor, ...claims });
  }

  /** A token of a service account. */
  async accountToken(
    namespace: string,
    name = "ci",
    audiences: readonly string[] = [audience],
  ): Promise<string> {
    await this.pools.cluster.clientFor(namespace, name);
    const made = (await this.client.json({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences } },
    })) as { status: { token: string } };
    return made.status.token;
  }

  async secret(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    await this.client.create(Secret, { metadata: { namespace, name }, data: Object.fromEntries(encoded) });
  }

  ask(method: string, path: string, asked: Asked = {}): Promise<Answered> {
    const { token, body, pair, replica = 0, headers = {}, signal } = asked;
    const text = typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: this.ports[replica],
          path,
          method,
          agent: this.#agent(pair),
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
            ...headers,
          },
          ...(signal ? { signal } : {}),
        },
        (response) => {
          const certificate = (response.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256 ?? "";
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const whole = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: whole,
              body: whole.startsWith("{") ? (JSON.parse(whole) as Answered["body"]) : {},
              certificate,
            });
          });
        },
      );
      sent.once("error", reject);
      sent.end(text);
    });
  }

  #agent(pair: KeyPair | undefined): Agent {
    const key = pair?.certificate ?? "";
    const known = this.#agents.get(key);
    if (known) return known;
    const agent = new Agent({
      keepAlive: true,
      ca: this.pools.trust,
      servername: `buildkit-controller-api.${systemNamespace}.svc`,
      ...(pair ? { cert: pair.certificate, key: pair.key } : {}),
    });
    this.#agents.set(key, agent);
    return agent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents.values()) agent.destroy();
    await this.pools[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}

/** A rule that admits octocat of one repository. */
export const octocatRule = {
  users: ["octocat"],
  claims: { repository: ["acme/*"] },
  verbs: ["allocate", "certs", "view"],
};
