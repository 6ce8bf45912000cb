import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "@windlass/clock";
import { byReference, controller, type ReconcileContext, type Source, watch } from "@windlass/runtime";
import { EndpointSlice, HorizontalPodAutoscaler, Service } from "@windlass/runtime/kinds";
import { arrange, isPausedByOthers, removeOthers, select, wantedReplicas } from "./arrange.ts";
import { haveFollowed, resolversIn } from "./cluster-view.ts";
import { areDependenciesAwake, askedByDependents, type Neighbours } from "./dependencies.ts";
import { ElastiService, type ElastiServiceObject, finalizer } from "./elasti-service.ts";
import { ServiceFault } from "./fault.ts";
import { firstReplies } from "./first-replies.ts";
import { ListenPorts, type PortRange, PortsExhaustedError } from "./listen-ports.ts";
import { neighboursOf, ownersOf } from "./mappings.ts";
import { divertingLabel, privateServiceName, sleepAnnotation, wakeAnnotation } from "./names.ts";
import {
  type EndpointSliceObject,
  isResolverSlice,
  type PortPair,
  type ResolverEndpoint,
  type ServiceObject,
  serviceNameLabel,
} from "./objects.ts";
import { answersNeeded, leadsTo, leadsToResolverAlone, type PathProbe } from "./path-probe.ts";
import { type Position, positionOf } from "./position.ts";
import type { ResolverLinks } from "./resolver-links.ts";
import { ResolverPresence } from "./resolver-presence.ts";
import type { ResolverReports } from "./resolver-reports.ts";
import { type KindLookup, watchedTargets } from "./scale-target.ts";
import { ScaledObject } from "./scaled-object.ts";
import { lookAt, type ResolverService, type Sight, slicesOf } from "./sight.ts";
import { isOtherTarget, restore, type SleptTarget, sleptTargetOf } from "./slept-target.ts";
import { arrangementOf, type Observation, type Patience, proofOf, type StageName, step } from "./stage.ts";
import { StageTimes } from "./stage-times.ts";
import { eventOf, faultyStatusOf, statusOf } from "./story.ts";
import { heldIn, isQuiet, listeningIn, type Reply, type Reports, TrafficWatch } from "./traffic-watch.ts";

/** What a service should do, from its triggers and schedules. */
export interface Wishes {
  wishOf(elasti: ElastiServiceObject): Observation["wish"];
  /**
   * When triggers last saw that it is used, in milliseconds since the epoch.
   *
   * @default it is not known
   */
  usedAt?(elasti: ElastiServiceObject): number | undefined;
  /** Why a trigger has no answer. @default all have one */
  faultOf?(elasti: ElastiServiceObject): string | undefined;
  /** Asks for a reconcile when a wish changes. */
  readonly source: Source;
}

/** What the controller works with. */
export interface ElastiDependencies {
  readonly kinds: KindLookup;
  readonly probe: PathProbe;
  readonly reports: ResolverReports;
  readonly wishes: Wishes;
  readonly resolver: ResolverService;
  /** Notices replicas of the resolver that have gone away. @default their readiness alone counts */
  readonly links?: ResolverLinks;
  /** The ports that the resolver listens on. @default 20000 to 29999 */
  readonly portRange?: PortRange;
  /** @default a quiet time of 5 s, proofs within 30 s, a reprieve after 10 s */
  readonly patience?: Patience;
  /** How long no resolver may be ready before targets are woken. @default 15_000 */
  readonly resolverGraceMs?: number;
}

const defaultPatience: Patience = { settleMs: 5_000, proofMs: 30_000, reprieveMs: 10_000 };
/** How soon a stage is looked at again. What changes in the cluster asks for a look by itself. */
const paceMs: Readonly<Partial<Record<StageName, number>>> = {
  Joining: 100,
  Diverting: 100,
  Relaying: 250,
  Holding: 50,
  ScalingDown: 50,
  Terminating: 5_000,
  Waking: 1_000,
  Returning: 100,
};
const faultRetryMs = 30_000;
/** How often a target that is not watched is asked for its scale. */
const unwatchedMs = 5_000;
const usualDrainMs = 30_000;
/** As long as the resolver has a request wait that its service sets no limit for. */
const usualHoldSeconds = 600;
const fallingAsleep: readonly StageName[] = ["Joining", "Diverting", "Relaying", "Holding"];
const beforeScaleDown: readonly StageName[] = ["Serving", ...fallingAsleep, "ScalingDown"];
/** Stages that go on only with what every replica of the resolver reports. */
const needAll: readonly StageName[] = fallingAsleep;
/** How long a wake waits for other replicas of the resolver once one has answered. */
const graceMs = 100;
const asleep: readonly StageName[] = ["Terminating", "Asleep"];

/** Puts services to sleep, and wakes them. */
export function elastiController(dependencies: ElastiDependencies) {
  const { resolver, wishes, links } = dependencies;
  const keeper = new ServiceKeeper(dependencies);
  return controller(ElastiService, {
    name: "elastiservice",
    finalizer,
    fieldManager: "elasti-operator",
    concurrency: 32,
    // A sleep and a wake are some twenty writes, which may be within a minute.
    hotLoopThreshold: 100,
    owns: [Service, EndpointSlice],
    watches: [
      watch(
        Service,
        byReference(ElastiService, ({ spec }) => spec.service),
        {
          indexes: {
            divertedBy: ({ metadata, spec }: ServiceObject) => {
              const by = spec?.selector?.[divertingLabel];
              return by === undefined ? [] : [`${metadata.namespace}/${by}`];
            },
          },
        },
      ),
      watch(EndpointSlice, (slice: EndpointSliceObject, context) => ownersOf(slice, context, resolver), {
        indexes: {
          service: ({ metadata }: EndpointSliceObject) => [
            `${metadata.namespace}/${metadata.labels?.[serviceNameLabel] ?? ""}`,
          ],
        },
      }),
      watch(ElastiService, neighboursOf),
    ],
    follows: [ScaledObject, HorizontalPodAutoscaler, ...watchedTargets],
    indexes: {
      service: ({ metadata, spec }) => [`${metadata.namespace}/${spec.service}`],
      privateService: ({ metadata, spec }) => [`${metadata.namespace}/${privateServiceName(spec.service)}`],
      dependency: ({ metadata, spec }) =>
        (spec.dependsOn ?? []).map((name) => `${metadata.namespace}/${name}`),
    },
    permissions: [
      { kind: Service, verbs: ["patch"] },
      { kind: ElastiService, verbs: ["patch"] },
      { kind: ScaledObject, verbs: ["patch"] },
      {
        kind: { group: "*", plural: "*", scope: "Namespaced" },
        verbs: ["get", "patch"],
        subresources: ["scale"],
      },
    ],
    sources: [
      ({ clock }) => {
        keeper.clock = clock;
      },
      wishes.source,
      ...(links ? [links.source] : []),
    ],
    reconcile: (elasti, context) => keeper.reconcile(elasti, context),
    finalize: (elasti, context) => keeper.finalize(elasti, context),
  });
}

/** Keeps services where they should be between awake and asleep. What it remembers may be lost. */
class ServiceKeeper {
  readonly #dependencies: ElastiDependencies;
  readonly #patience: Patience;
  readonly #ports: ListenPorts;
  readonly #traffic = new TrafficWatch();
  readonly #presence: ResolverPresence;
  readonly #times = new StageTimes();
  /** The manager's, once it has started. */
  clock: Clock = systemClock;

  constructor(dependencies: ElastiDependencies) {
    this.#dependencies = dependencies;
    this.#patience = dependencies.patience ?? defaultPatience;
    this.#ports = new ListenPorts(dependencies.portRange ?? { first: 20_000, last: 29_999 });
    this.#presence = new ResolverPresence(dependencies.resolverGraceMs ?? 15_000);
  }

  async reconcile(elasti: ElastiServiceObject, context: ReconcileContext) {
    try {
      const wish = await this.#wish(elasti, context);
      return await this.#advance(elasti, context, wish);
    } catch (error) {
      if (!(error instanceof ServiceFault)) throw error;
      return { status: faultyStatusOf(elasti, error), requeueAfter: faultRetryMs };
    }
  }

  /** Wakes what sleeps, unless it is to sleep on, and leaves nothing of ours behind. */
  async finalize(elasti: ElastiServiceObject, context: ReconcileContext) {
    const { stage } = positionOf(elasti.status, context.now.getTime());
    const isHome = stage.at === "Serving" && !this.#isResolverInService(elasti, context);
    const isKept = elasti.spec.onDelete === "Keep" && asleep.includes(stage.at);
    if (!isHome && !isKept && !(await this.#isOverdue(elasti, context))) {
      try {
        const { requeueAfter = 1_000, ...result } = await this.#advance(elasti, context, "wake");
        return { ...result, requeueAfter };
      } catch (error) {
        // Without its Service or target there is nothing to hand back.
        if (!(error instanceof ServiceFault)) throw error;
      }
    }
    if (!isKept) await this.#restore(elasti, asleep.includes(stage.at), context);
    await select(elasti, true, context);
    await removeOthers(context, []);
    this.#ports.forget(ownerOf(elasti));
    this.#traffic.forget(ownerOf(elasti));
    this.#times.forget(ownerOf(elasti));
    return undefined;
  }

  /**
   * Whether a deletion goes on without what it waits for. As long as requests wait, it does not:
   * each of them has its own limit.
   */
  async #isOverdue(elasti: ElastiServiceObject, context: ReconcileContext): Promise<boolean> {
    const { metadata, spec } = elasti;
    const elapsedMs = context.now.getTime() - Date.parse(metadata.deletionTimestamp ?? "");
    const { drainMs = usualDrainMs } = this.#patience;
    if (elapsedMs <= drainMs) return false;
    const holdMs = (spec.hold?.timeoutSeconds ?? usualHoldSeconds) * 1_000;
    if (elapsedMs > drainMs + holdMs) return true;
    const resolvers = resolversIn(slicesOf(context, this.#dependencies.resolver));
    const replies = await this.#ask(elasti, resolvers, context, "all");
    return heldIn(replies.map(({ report }) => report)) === 0;
  }

  /** Brings a target that sleeps back, also where the Service is gone or the spec names another. */
  async #restore(elasti: ElastiServiceObject, isAsleep: boolean, context: ReconcileContext): Promise<void> {
    const slept = elasti.status?.sleptTarget ?? (isAsleep ? sleptTargetOf(elasti.spec) : undefined);
    if (slept) await restore(slept, elasti, this.#dependencies.kinds, context);
  }

  async #advance(elasti: ElastiServiceObject, context: ReconcileContext, wish: Observation["wish"]) {
    const { kinds, resolver, links } = this.#dependencies;
    const nowMs = context.now.getTime();
    const slept = elasti.status?.sleptTarget;
    // The spec names another target by now: the one that sleeps must not be left at zero.
    const isForsaken = slept !== undefined && isOtherTarget(slept, elasti.spec);
    if (isForsaken) await restore(slept, elasti, kinds, context);
    const sight = await lookAt(elasti, context, kinds, resolver, links);
    const ports = this.#portsFor(elasti, sight, context);
    const position = positionOf(elasti.status, nowMs);
    const restsAt = restOf(elasti);
    const replies = await this.#repliesFor(elasti, position, sight, context);
    const reports = replies.map(({ report }) => report);
    const seen = await this.#observe({ elasti, position, sight, restsAt, replies, wish }, context);
    const move = sight.arePodsKnown ? step(position.stage, seen, this.#patience) : undefined;
    const next = move ? { stage: move.stage, step: position.step + 1, sinceMs: nowMs } : position;
    const isKnown = elasti.status?.step !== undefined;
    const usedAt = this.#dependencies.wishes.usedAt?.(elasti);
    const isScaling = next.stage.at === "ScalingDown" && (move !== undefined || isForsaken);
    const sleptTarget = isScaling ? sleptTargetOf(elasti.spec) : isForsaken ? undefined : slept;
    const facts = {
      elasti,
      position: next,
      restsAt,
      ports,
      seen,
      now: context.now,
      ...(move && { move, from: position.stage.at }),
      ...(usedAt !== undefined && { usedAt }),
      triggerFault: this.#dependencies.wishes.faultOf?.(elasti),
    };
    const outcomeOf = (sleeping: SleptTarget | undefined) => ({
      status: statusOf({
        ...facts,
        sleptTarget: sleeping,
        isResolverInService: this.#isResolverInService(elasti, context),
      }),
    });
    // What is to be done is stored first, so that the next leader after a crash knows it.
    if (move) return { ...outcomeOf(sleptTarget), events: [eventOf(move)], requeueAfter: 0 };
    if (!isKnown || isForsaken || !isDeepStrictEqual(ports, elasti.status?.ports))
      return { ...outcomeOf(sleptTarget), requeueAfter: 0 };
    const waiting = Math.max(heldIn(reports), waitingIn(elasti));
    const outcome = await arrange(
      {
        elasti,
        sight,
        ports,
        arrangement: arrangementOf(position.stage, restsAt),
        listening: listeningIn(replies),
        wanted: await wantedReplicas(elasti, waiting, context),
        mayStart: areDependenciesAwake(elasti, neighboursIn(elasti, context)),
      },
      context,
    );
    await this.#acknowledge(elasti, position, context);
    const requeueAfter = pace(position.stage.at, seen) ?? (sight.isTargetWatched ? undefined : unwatchedMs);
    const { status } = outcomeOf(outcome === "restored" ? undefined : sleptTarget);
    return { status, ...(requeueAfter !== undefined && { requeueAfter }) };
  }

  async #wish(elasti: ElastiServiceObject, context: ReconcileContext): Promise<Observation["wish"]> {
    if (isForced(elasti)) return "sleep";
    const asked = askedByDependents(elasti.metadata.name, neighboursIn(elasti, context));
    if (asked === "wake") return "wake";
    const wish = this.#dependencies.wishes.wishOf(elasti);
    if (wish !== "sleep") return wish;
    return asked === "stay" || (await isPausedByOthers(elasti, context)) ? "stay" : "sleep";
  }

  async #observe(
    given: {
      readonly elasti: ElastiServiceObject;
      readonly position: Position;
      readonly sight: Sight;
      readonly restsAt: Observation["restsAt"];
      readonly replies: readonly Reply[];
      readonly wish: Observation["wish"];
    },
    context: ReconcileContext,
  ): Promise<Observation> {
    const { elasti, position, sight, restsAt, replies, wish } = given;
    const reports = replies.map(({ report }) => report);
    const { stage } = position;
    const isReady = sight.resolvers.some((one) => one.isReady);
    const { podsInService } = arrangementOf(stage, restsAt);
    return {
      elapsedMs: this.#times.elapsedMs(ownerOf(elasti), position.step, this.clock.monotonic()),
      restsAt,
      wish,
      hasDemand: this.#hasDemand(elasti, position, restsAt, replies),
      replicas: sight.replicas,
      pods: sight.pods,
      resolver: this.#presence.observe(isReady, this.clock.monotonic()),
      haveSlicesFollowed: haveFollowed(sight.slices, elasti.spec.service, podsInService),
      isProven: await this.#isProven(position, sight, reports, podsInService, context),
    };
  }

  #hasDemand(
    elasti: ElastiServiceObject,
    { stage, step: number }: Position,
    restsAt: Observation["restsAt"],
    replies: readonly Reply[],
  ): boolean {
    const reports = replies.map(({ report }) => report);
    if (isForced(elasti) && beforeScaleDown.includes(stage.at)) return false;
    if (elasti.metadata.annotations?.[wakeAnnotation] !== undefined) return true;
    if (heldIn(reports) > 0 && !["Joining", "Diverting", "Relaying"].includes(stage.at)) return true;
    const index = fallingAsleep.indexOf(stage.at);
    if (index < 0 || restsAt === "Relaying") return false;
    return this.#traffic.hasMore(ownerOf(elasti), number - index, replies);
  }

  async #isProven(
    position: Position,
    { service, resolvers, pods, slices }: Sight,
    reports: Reports,
    podsInService: boolean,
    { signal }: ReconcileContext,
  ): Promise<boolean> {
    const { probe } = this.#dependencies;
    const address = service.spec?.clusterIP ?? "";
    const port = service.spec?.ports?.[0]?.port ?? 0;
    const counts = [pods.length, resolvers.filter((one) => one.isReady).length] as const;
    switch (proofOf(position.stage)) {
      case "presence":
        return await leadsTo("resolver", probe, address, port, answersNeeded(counts[1], counts[0]), signal);
      case "exclusivity":
        return (
          haveFollowed(slices, service.metadata.name, podsInService) &&
          (await leadsToResolverAlone(probe, address, port, answersNeeded(...counts), signal))
        );
      case "quiet":
        return isQuiet(reports, position.step);
      case "pod":
        return await leadsTo("other", probe, address, port, answersNeeded(...counts), signal);
      case undefined:
        return true;
    }
  }

  /** Asked for only where it matters: a service at rest costs nothing. */
  async #repliesFor(
    elasti: ElastiServiceObject,
    { stage }: Position,
    { resolvers }: Sight,
    context: ReconcileContext,
  ): Promise<readonly Reply[]> {
    if (stage.at === "Serving" || stage.at === "Returning") return [];
    return await this.#ask(elasti, resolvers, context, needAll.includes(stage.at) ? "all" : "first");
  }

  /**
   * Asks the processes of the resolver about a service.
   *
   * @param which `first`: one that does not answer is waited for only briefly once another
   *   has answered.
   */
  async #ask(
    { metadata, spec }: ElastiServiceObject,
    resolvers: readonly ResolverEndpoint[],
    { signal }: ReconcileContext,
    which: "all" | "first",
  ): Promise<readonly Reply[]> {
    const { reports } = this.#dependencies;
    const decided = new AbortController();
    const until = AbortSignal.any([signal, decided.signal]);
    // One that is about to end, or is too busy to say that it is ready, still has requests, and
    // clients that keep their connections to it. Only one that no longer runs has none.
    const processes = resolvers.flatMap((one) => reports.ports.map((port) => ({ ...one, port })));
    const asked = processes.map(async ({ address, port, isReady }): Promise<readonly Reply[]> => {
      const report = await reports.of(address, port, metadata.namespace, spec.service, until);
      if (report !== "gone") return [{ address, port, report }];
      return isReady ? [{ address, port, report: undefined }] : [];
    });
    if (which === "all") return (await Promise.all(asked)).flat();
    const unknown = (index: number) => {
      const { address = "", port = 0 } = processes[index] ?? {};
      return [{ address, port, report: undefined }];
    };
    const replies = await firstReplies(asked, unknown, { clock: this.clock, graceMs });
    decided.abort();
    return replies.flat();
  }

  #portsFor(
    elasti: ElastiServiceObject,
    { service }: Sight,
    { cache }: ReconcileContext,
  ): readonly PortPair[] {
    for (const other of cache.list(ElastiService))
      this.#ports.note(ownerOf(other), other.status?.ports ?? []);
    try {
      return this.#ports.give(ownerOf(elasti), service, elasti.status?.ports ?? []);
    } catch (error) {
      if (!(error instanceof PortsExhaustedError)) throw error;
      throw new ServiceFault("PortsExhausted", error.message);
    }
  }

  #isResolverInService({ metadata, spec }: ElastiServiceObject, context: ReconcileContext): boolean {
    const slices = slicesOf(context, { namespace: metadata.namespace, name: spec.service });
    return slices.some((slice) => isResolverSlice(slice, spec.service));
  }

  /** What was asked for is done: the next request for it must count again. */
  async #acknowledge(elasti: ElastiServiceObject, { stage }: Position, { client }: ReconcileContext) {
    const done = [
      ...(stage.at === restOf(elasti) ? [wakeAnnotation] : []),
      ...(beforeScaleDown.includes(stage.at) ? [] : [sleepAnnotation]),
    ].filter((name) => elasti.metadata.annotations?.[name] !== undefined);
    for (const name of done) {
      // What was set again since then stays.
      const path = `/metadata/annotations/${name.replace("/", "~1")}`;
      const value = elasti.metadata.annotations?.[name];
      const patch = [
        { op: "test", path, value },
        { op: "remove", path },
      ] as const;
      await client.patch(ElastiService, elasti.metadata, { type: "json", patch });
    }
  }
}

/** When to look again if nothing happens; undefined at rest. */
function pace(at: StageName, { restsAt, resolver, wish }: Observation): number | undefined {
  if (resolver !== "ready") return 1_000;
  // One that is to sleep from its rest may have to wait there first, and nothing in the cluster
  // says when it is over.
  return at === restsAt && wish !== "sleep" ? undefined : paceMs[at];
}

function ownerOf({ metadata }: ElastiServiceObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** A traffic trigger counts requests, so they must pass the resolver. */
function restOf({ spec }: ElastiServiceObject): Observation["restsAt"] {
  return spec.triggers?.some(({ type }) => type === "traffic") ? "Relaying" : "Serving";
}

function isForced({ metadata }: ElastiServiceObject): boolean {
  return metadata.annotations?.[sleepAnnotation] !== undefined && metadata.deletionTimestamp === undefined;
}

/** How many requests wait, by the wake annotation. */
function waitingIn({ metadata }: ElastiServiceObject): number {
  return Number.parseInt(metadata.annotations?.[wakeAnnotation] ?? "0", 10) || 0;
}

function neighboursIn(
  { metadata: { namespace } }: ElastiServiceObject,
  { cache }: ReconcileContext,
): Neighbours {
  return {
    find: (name) => cache.get(ElastiService, { namespace, name }),
    dependentsOf: (name) => cache.byIndex(ElastiService, "dependency", `${namespace}/${name}`),
  };
}
