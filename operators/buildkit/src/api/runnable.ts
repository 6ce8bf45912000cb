import { inspect } from "@windlass/certificates";
import type { Client } from "@windlass/client";
import { type Duration, milliseconds, sleep } from "@windlass/clock";
import type { RoleContribution, Runnable } from "@windlass/runtime";
import { Allocator, PoolCredentials, PoolState } from "../allocation/index.ts";
import { apiServerNames } from "../certificates/index.ts";
import {
  type Admins,
  AuditLog,
  Authenticator,
  defaultAudience,
  issuerHttp,
  ServiceAccounts,
} from "../identity/index.ts";
import { apiName } from "../names.ts";
import { BuildKitOIDCConfig } from "../oidc/oidc-config.ts";
import { certificateRoutes } from "./certificate-routes.ts";
import { apiMetrics } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import { providersOf } from "./pool-access.ts";
import { poolRoutes } from "./pool-routes.ts";
import { PublishedTrust } from "./published-trust.ts";
import { apiRights } from "./rights.ts";
import { openRoute, type Route } from "./route.ts";
import { ApiServer } from "./server.ts";
import { Service } from "./service.ts";
import { type CertificateSource, ServingCertificate } from "./serving-certificate.ts";
import { SecretTokens } from "./static-tokens.ts";
import { workerRoutes } from "./worker-routes.ts";

/** What the allocation API is run with. */
export interface AllocationApiOptions {
  /** Reads and writes at the API server itself. The manager's own will do. */
  readonly client: Client;
  /**
   * The operator's namespace: it has the keys and authorities, and the OIDC configurations that are
   * trusted.
   */
  readonly namespace: string;
  /** 0 picks a free one. @default 8082 */
  readonly port?: number;
  /** @default all interfaces */
  readonly host?: string;
  /**
   * Of the Service by which clients reach it: goes into its certificate.
   *
   * @default "buildkit-controller-api"
   */
  readonly service?: string;
  /** Other names that lead here. @default none */
  readonly dnsNames?: readonly string[];
  /**
   * A folder with tls.crt and tls.key.
   *
   * @default a certificate of the authority that signs the gateways'
   */
  readonly certificateFolder?: string;
  /** Who may do everything, everywhere. @default no user */
  readonly admins?: Partial<Admins>;
  /** What tokens of service accounts must be meant for. @default "buildkit-controller" */
  readonly audience?: string;
  /**
   * How long it goes on serving once it is to stop: until no Service leads here any more.
   *
   * @default "5s"
   */
  readonly acceptFor?: Duration;
  /** Called with the port, once it serves. */
  readonly onListening?: (port: number) => void;
}

const version = "v1alpha1";

/**
 * The allocation API as part of a manager. Serves on every replica, leading or not.
 *
 * @example
 * await manager({ client, leaderElection: { name: "buildkit-controller.smrt-devops.net" } })
 *   .add(allocationApi({ client, namespace: "buildkit-system" }))
 *   .run();
 */
export function allocationApi(options: AllocationApiOptions): Runnable & RoleContribution {
  const {
    client,
    namespace,
    admins = {},
    audience = defaultAudience,
    port = 8082,
    host,
    acceptFor = "5s",
  } = options;
  let drain: () => Promise<void> = () => Promise.resolve();
  return {
    name: "allocation-api",
    stage: "everywhere",
    ...apiRights,
    drain: () => drain(),
    async start({ cache, informer, clock, random, log, metrics: registry, signal, addReadyCheck }) {
      const state = new PoolState({ cache, informer, clock });
      const configs = cache.informer(BuildKitOIDCConfig, { namespace });
      await Promise.all([state.synced(), configs.synced]);
      const metrics = apiMetrics(registry);
      const credentials = new PoolCredentials({ client, namespace, clock });
      const audit = new AuditLog(log);
      const authenticator = new Authenticator({
        providers: () => providersOf(configs.list(), state.pools()),
        serviceAccounts: new ServiceAccounts({ client, audience, clock }),
        staticTokens: new SecretTokens({ client, pools: () => state.pools(), clock }),
        fetch: (ca) => issuerHttp({ ca }),
        clock,
      });
      const allocator = new Allocator({
        client,
        state,
        credentials,
        clock,
        random,
        onGranted: metrics.granted,
      });
      const everyone: Admins = { users: [], groups: [], ...admins };
      const service = new Service({
        client,
        state,
        allocator,
        credentials,
        admins: everyone,
        audit,
        metrics,
        clock,
      });
      const routes = apiRoutes(service);
      const server = await ApiServer.listen({
        routes,
        authenticator,
        audit,
        metrics,
        clock,
        random,
        log,
        port,
        host,
      });
      const trust = new PublishedTrust({ client, namespace, clock, log, signal });
      const certificate = new ServingCertificate({
        source: sourceOf(options),
        credentials,
        clock,
        log,
        use: (found) => {
          server.use(found);
          trust.publish(found.clientTrust);
          metrics.expires(inspect(found.pair.certificate).notAfter);
        },
      });
      const followed = await certificate.start(signal);
      addReadyCheck("allocation-api", () => certificate.fault());
      drain = () => {
        server.drain();
        return sleep(clock, milliseconds(acceptFor, "allocationApi: acceptFor"));
      };
      log.info({ port: server.port }, "the allocation API is served");
      options.onListening?.(server.port);
      return async () => {
        await server.close();
        await Promise.all([followed(), trust.settled()]);
        configs.release();
        allocator[Symbol.dispose]();
        state[Symbol.dispose]();
      };
    },
  };
}

/** All routes of the API, and the document that describes them. */
export function apiRoutes(service: Service): readonly Route[] {
  const routes: Route[] = [...workerRoutes(service), ...certificateRoutes(service), ...poolRoutes(service)];
  routes.push(
    openRoute({
      method: "GET",
      path: "/api/v1/health",
      summary: "Whether this replica answers",
      answers: { 200: { description: "OK" } },
      answer: () => ({ status: 200, body: "OK" }),
    }),
    openRoute({
      method: "GET",
      path: "/api/v1/openapi.json",
      summary: "This document",
      answers: { 200: { description: "An OpenAPI 3.1 document" } },
      answer: () => ({ status: 200, body: openApiDocument(routes, version) }),
    }),
  );
  return routes;
}

function sourceOf(options: AllocationApiOptions): CertificateSource {
  const { certificateFolder, service = apiName, namespace, dnsNames = [] } = options;
  if (certificateFolder !== undefined) return { from: "folder", folder: certificateFolder };
  const names = apiServerNames({ namespace, service, hostnames: dnsNames });
  return {
    from: "authority",
    dnsNames: [...new Set([`${service}.${namespace}.svc`, ...names, "localhost"])],
    ipAddresses: ["127.0.0.1", "::1"],
  };
}
