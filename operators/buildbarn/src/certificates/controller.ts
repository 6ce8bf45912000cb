import {
  type CacheReader,
  condition,
  controller,
  type ReconcileContext,
  type WantedCondition,
} from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { ports } from "../configuration/index.ts";
import { BuildbarnFrontend, type Frontend } from "../frontend/frontend.ts";
import type { GrpcServer } from "../grpc/index.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import {
  type ComponentKind,
  componentKinds,
  connectionTo,
  type OperatorCertificate,
  SetFault,
  setOf,
  withAuthorities,
} from "../set/index.ts";
import { BuildbarnStorage, type Storage } from "../storage/storage.ts";
import { forgetCertificate, reportCertificate, type Shower } from "./metrics.ts";
import { type Shown, shownBy } from "./shown.ts";
import { certificateCondition, validityOf } from "./validity.ts";

/** What looks at certificates stand on. */
export interface CertificateDependencies {
  /** `host:port` of a scheduler's BuildQueueState. @default that of its Service */
  readonly queueAddress?: (scheduler: Scheduler) => string | Promise<string>;
  /** `host:port` where Bazel reaches a frontend. @default that of its Service */
  readonly entranceAddress?: (frontend: Frontend) => string | Promise<string>;
  /**
   * What the operator shows to sets that use TLS among themselves.
   *
   * @default what is mounted in its pod
   */
  readonly certificate?: OperatorCertificate;
  /** How often certificates are looked at. @default 600_000 */
  readonly certificateLookMs?: number;
}

/** How long a server may take to show its certificate. */
const showMs = 10_000;
/** How soon a server is asked again that could not be reached. */
const againMs = 60_000;

type Context = Pick<ReconcileContext, "clock" | "signal" | "events" | "metrics">;

/** A certificate that is looked at. */
interface Looked {
  readonly kind: Shower["kind"];
  readonly component: Storage | Frontend;
  /** The component as the cache has it. */
  current(): Storage | Frontend | undefined;
  /** In words. */
  readonly name: string;
  /** Who shows it. @throws SetFault */
  server(): Promise<GrpcServer>;
}

/**
 * Looks at the certificates that a set shows: those of `internalTls` at its scheduler, for all
 * components show the same, and those of frontends where Bazel connects. It reads no Secret. It
 * writes no more than one condition: the rest is another controller's.
 */
export function certificateControllers(dependencies: CertificateDependencies = {}) {
  const common = {
    fieldManager: "buildbarn-operator-certificates",
    follows: [ConfigMap],
    // Each waits for an answer for most of its time.
    concurrency: 8,
  } as const;
  return [
    controller(BuildbarnStorage, {
      ...common,
      name: "buildbarninternalcertificate",
      reads: componentKinds,
      reconcile: (component, context) => {
        const kind = "BuildbarnStorage";
        if (!component.spec.internalTls) return nothing(kind, component, context);
        const name = "the certificate of the set";
        const current = () => context.cache.get(BuildbarnStorage, context.key);
        const server = () => serverOfSet(component, context, dependencies);
        return look({ kind, component, current, name, server }, context, dependencies);
      },
    }),
    controller(BuildbarnFrontend, {
      ...common,
      name: "buildbarnfrontendcertificate",
      reconcile: (component, context) => {
        const kind = "BuildbarnFrontend";
        if (!component.spec.tls) return nothing(kind, component, context);
        const name = "the frontend's certificate";
        const current = () => context.cache.get(BuildbarnFrontend, context.key);
        const server = () => entranceOf(component, dependencies);
        return look({ kind, component, current, name, server }, context, dependencies);
      },
    }),
  ] as const;
}

/** A scheduler of the set, and how the operator reaches it. @throws SetFault */
async function serverOfSet(
  storage: Storage,
  context: Pick<ReconcileContext, "follow"> & { readonly cache: CacheReader<ComponentKind> },
  { queueAddress, certificate }: CertificateDependencies,
): Promise<GrpcServer> {
  const set = await withAuthorities(setOf(context.cache, storage), context);
  const [scheduler] = set.schedulers;
  if (!scheduler) throw new SetFault("MissingReference", "there is no scheduler that shows it");
  const { name, namespace } = scheduler.metadata;
  const address = (await queueAddress?.(scheduler)) ?? `${name}.${namespace}.svc:${ports.schedulerState}`;
  return { address, ...(await connectionTo(set, certificate)) };
}

async function entranceOf(
  frontend: Frontend,
  { entranceAddress }: CertificateDependencies,
): Promise<GrpcServer> {
  const { name, namespace } = frontend.metadata;
  return { address: (await entranceAddress?.(frontend)) ?? `${name}.${namespace}.svc:${ports.frontend}` };
}

async function look(
  { kind, component, current, name, server }: Looked,
  { clock, signal, events, metrics }: Context,
  { certificateLookMs = 600_000 }: CertificateDependencies,
) {
  const seen = await see(server, signal);
  const left = current();
  // Its finalizer removes the metric, or has removed it.
  if (!left || left.metadata.deletionTimestamp !== undefined) return undefined;
  if ("why" in seen)
    return {
      status: {
        conditions: [condition("CertificateValid", "Unknown", "CertificateNotSeen", `${name}: ${seen.why}`)],
      },
      requeueAfter: Math.min(certificateLookMs, againMs),
    };
  const validity = validityOf(name, seen.certificate, seen.authorities);
  const now = clock.now();
  const told = certificateCondition(validity, seen, now);
  reportCertificate(metrics, { kind, ...component.metadata }, validity, now);
  if (told.status === "False" && before(component)?.reason !== told.reason)
    events.warning(told.reason, told.message ?? "");
  const next = [validity.dueMs, validity.untilMs].find((time) => time > now) ?? Number.POSITIVE_INFINITY;
  return { status: { conditions: [told] }, requeueAfter: Math.min(certificateLookMs, next - now) };
}

type Seen = (Shown & { readonly authorities: string | undefined }) | { readonly why: string };

/** What a server shows, or why that is not known. */
async function see(findServer: () => Promise<GrpcServer>, signal: AbortSignal): Promise<Seen> {
  let server: GrpcServer;
  try {
    server = await findServer();
  } catch (error) {
    if (error instanceof SetFault) return { why: error.message };
    throw error;
  }
  const within = AbortSignal.any([signal, AbortSignal.timeout(showMs)]);
  try {
    return { ...(await shownBy(server, within)), authorities: server.authorities };
  } catch (error) {
    signal.throwIfAborted();
    return { why: within.aborted ? `it is not shown within ${showMs / 1_000} s` : messageOf(error) };
  }
}

function nothing(kind: Shower["kind"], { metadata }: Storage | Frontend, { metrics }: Context) {
  forgetCertificate(metrics, { kind, ...metadata });
  return { status: {} };
}

function before({ status }: Storage | Frontend): Pick<WantedCondition, "reason"> | undefined {
  return status?.conditions?.find(({ type }) => type === "CertificateValid");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
