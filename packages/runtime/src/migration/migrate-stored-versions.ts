import {
  deniedAccess,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  type KubernetesObject,
  metadataOnly,
} from "@windlass/client";
import { type Duration, milliseconds, sleep } from "@windlass/clock";
import { CustomResourceDefinition } from "@windlass/kinds/builtin";
import type { PolicyRule, RoleContribution } from "../controller/rbac.ts";
import type { Runnable, RunnableContext } from "../manager/runnable.ts";
import { migrationMetrics } from "../metrics/migration-metrics.ts";
import { messageOf } from "../reconcile/errors.ts";
import type { Resource } from "../resource/index.ts";
import { checkpointAnnotation, type Plan, planFor, writeCheckpoint } from "./plan.ts";

/** How stored objects are migrated. */
export interface MigrationOptions {
  /**
   * How long to wait before the first object is rewritten: every API server of the cluster must
   * have noticed the new storage version by then. @default "30s"
   */
  readonly settle?: Duration;
  /**
   * How long until the definition is checked again while there is something in the way.
   *
   * @default "10m"
   */
  readonly retry?: Duration;
  /** Objects that are rewritten at a time. @default 4 */
  readonly concurrency?: number;
}

const pageSize = 500;

/**
 * Rewrites the objects of kinds whose stored version has changed, and drops the old versions from
 * the definitions' `status.storedVersions`. Only then may an old version be taken out of a
 * definition.
 *
 * Add it to a manager; it works on the leader, and goes on where the last leader ended. A kind with
 * one stored version costs one read.
 *
 * # Guarantees
 * - An old version is dropped only if every object was rewritten while the definition stayed the
 *   same.
 * - An object that another client writes meanwhile is left alone: that write has stored it in the
 *   new version.
 * - An object that the server refuses to rewrite is named in the log, and its version is kept.
 *
 * @example
 * await manager({ leaderElection: { name: "webapp-operator" } }).add(webapp).add(migrateStoredVersions([WebApp])).run();
 */
export function migrateStoredVersions(
  kinds: readonly Resource[],
  options: MigrationOptions = {},
): Runnable & RoleContribution {
  const name = "stored version migration";
  const settleMs = milliseconds(options.settle ?? "30s", `${name}: settle`);
  const retryMs = milliseconds(options.retry ?? "10m", `${name}: retry`);
  const { concurrency = 4 } = options;
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`${name}: concurrency (${concurrency}) must be a whole number of at least 1`);
  return {
    name,
    stage: "leader",
    clusterRules: kinds.length === 0 ? [] : rulesFor(kinds),
    namespaceRules: [],
    start: (context) => {
      const metrics = migrationMetrics(context.metrics);
      const runs = kinds.map((kind) =>
        new Migration(kind, context, metrics, { settleMs, retryMs, concurrency }).run(),
      );
      return async () => {
        await Promise.all(runs);
      };
    },
  };
}

interface Settings {
  readonly settleMs: number;
  readonly retryMs: number;
  readonly concurrency: number;
}

/** The migration of one kind, from its first look to the end. */
class Migration {
  readonly #kind: Resource;
  readonly #context: RunnableContext;
  readonly #metrics: ReturnType<typeof migrationMetrics>;
  readonly #settings: Settings;
  /** What was logged last, so that the same is not logged at each retry. */
  #said: string | undefined;

  constructor(
    kind: Resource,
    context: RunnableContext,
    metrics: ReturnType<typeof migrationMetrics>,
    settings: Settings,
  ) {
    this.#kind = kind;
    this.#context = context;
    this.#metrics = metrics;
    this.#settings = settings;
  }

  /** Resolves when nothing is left to migrate, or the manager stops. Never rejects. */
  async run(): Promise<void> {
    const { clock, signal } = this.#context;
    while (!signal.aborted) {
      try {
        if (await this.#migrate()) return;
        await sleep(clock, this.#settings.retryMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#say("warn", `the stored versions of ${this.#kind.kind} were not migrated: ${messageOf(error)}`);
        await sleep(clock, this.#settings.retryMs, signal).catch(() => undefined);
      }
    }
  }

  /** @returns whether nothing is left to do. */
  async #migrate(): Promise<boolean> {
    const { clock, signal } = this.#context;
    const { kind, version } = this.#kind;
    const plan = planFor(await this.#definition(), version);
    if (plan.do === "nothing") return true;
    if (plan.do === "wait") {
      const stored = plan.storage === undefined ? "no version" : plan.storage;
      this.#say(
        "info",
        `${kind} is stored in ${stored}, not in ${version}: the objects are left alone until it is`,
      );
      return false;
    }
    this.#say("info", `rewriting the objects of ${kind}: some may be stored in ${plan.drop.join(", ")}`);
    await sleep(clock, this.#settings.settleMs, signal);
    const refused = await this.#rewriteAll(plan);
    if (refused.length > 0) {
      this.#say(
        "error",
        `${refused.length} objects of ${kind} cannot be rewritten in ${version}, so ${plan.drop.join(", ")} must stay in its definition; correct or delete them: ${refused.slice(0, 3).join("; ")}`,
      );
      return false;
    }
    return this.#drop(plan);
  }

  async #rewriteAll(plan: Plan & { readonly do: "rewrite" }): Promise<readonly string[]> {
    const refused: string[] = [];
    let { after } = plan;
    for await (const page of this.#pages()) {
      const due = page.filter((object) => after === undefined || placeOf(object) > after);
      await this.#inParallel(due, async (object) => {
        const fault = await this.#rewrite(object);
        if (fault !== undefined) refused.push(`${placeOf(object)}: ${fault}`);
      });
      const last = due.at(-1);
      if (!last) continue;
      after = placeOf(last);
      // The next leader must come past what was refused, too.
      if (refused.length === 0) await this.#checkpoint(plan.generation, after);
    }
    return refused;
  }

  /**
   * All objects in the order of their keys. An expired page starts the list again; what was done is
   * skipped.
   */
  async *#pages(): AsyncGenerator<readonly KubernetesObject[]> {
    const { client, signal } = this.#context;
    const kind = metadataOnly(this.#kind);
    let next: string | undefined;
    do {
      signal.throwIfAborted();
      try {
        const page = await client.list(kind, {
          limit: pageSize,
          ...(next === undefined ? {} : { continue: next }),
        });
        next = page.metadata.continue || undefined;
        yield page.items;
      } catch (error) {
        if (!isGone(error) || next === undefined) throw error;
        yield* this.#pages();
        return;
      }
    } while (next !== undefined);
  }

  /**
   * Writes an object as it is: the server stores it in the present version.
   *
   * @returns why the server refused, if it did.
   */
  async #rewrite({ metadata }: KubernetesObject): Promise<string | undefined> {
    const { client } = this.#context;
    const { uid, resourceVersion } = metadata;
    try {
      await client.patch(this.#kind, metadata, {
        type: "merge",
        patch: { metadata: { uid, resourceVersion } },
      });
      this.#metrics.rewritten(this.#kind.kind);
      return undefined;
    } catch (error) {
      // It was deleted, or another client has written it.
      if (isNotFound(error) || isConflict(error)) return undefined;
      if (!isRefused(error)) throw error;
      this.#metrics.refused(this.#kind.kind);
      return messageOf(error);
    }
  }

  /**
   * Drops the old versions, if the definition is still the one that the objects were rewritten
   * under.
   */
  async #drop({ generation, drop }: Plan & { readonly do: "rewrite" }): Promise<boolean> {
    const { client } = this.#context;
    const { kind, version } = this.#kind;
    const { metadata } = await this.#definition();
    if (metadata.generation !== generation) return false;
    const patch = {
      metadata: { resourceVersion: metadata.resourceVersion },
      status: { storedVersions: [version] },
    };
    const key = { name: metadata.name };
    await client.patch(CustomResourceDefinition, key, { type: "merge", patch }, { subresource: "status" });
    await this.#annotate(null);
    this.#say(
      "info",
      `all objects of ${kind} are stored in ${version}; ${drop.join(", ")} may be removed from it`,
    );
    return true;
  }

  #definition() {
    const { plural, group } = this.#kind;
    return this.#context.client.get(CustomResourceDefinition, { name: `${plural}.${group}` });
  }

  #checkpoint(generation: number, after: string): Promise<void> {
    return this.#annotate(writeCheckpoint({ version: this.#kind.version, generation, after }));
  }

  async #annotate(value: string | null): Promise<void> {
    const { plural, group } = this.#kind;
    const patch = { metadata: { annotations: { [checkpointAnnotation]: value } } };
    const key = { name: `${plural}.${group}` };
    await this.#context.client.patch(CustomResourceDefinition, key, { type: "merge", patch });
  }

  async #inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
    const rest = items.values();
    const work = async () => {
      for (const item of rest) await act(item);
    };
    await Promise.all(Array.from({ length: this.#settings.concurrency }, work));
  }

  #say(level: "info" | "warn" | "error", message: string): void {
    if (this.#said === message) return;
    this.#said = message;
    this.#context.log[level]({ kind: this.#kind.kind }, message);
  }
}

/**
 * Whether the server does not want the object as it is: a webhook, a policy or a quota is against
 * it. The schema never is: fields that do not change are not held to new rules.
 */
function isRefused(error: unknown): boolean {
  return isInvalid(error) || (isForbidden(error) && deniedAccess(error) === undefined);
}

/** Where an object is in a list: lists are in this order. */
function placeOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function rulesFor(kinds: readonly Resource[]): readonly PolicyRule[] {
  const resourceNames = kinds.map(({ plural, group }) => `${plural}.${group}`).toSorted();
  const definitions = { apiGroups: ["apiextensions.k8s.io"], resourceNames };
  const groups = Map.groupBy(kinds, ({ group }) => group);
  return [
    { ...definitions, resources: ["customresourcedefinitions"], verbs: ["get", "patch"] },
    { ...definitions, resources: ["customresourcedefinitions/status"], verbs: ["patch"] },
    ...[...groups].map(([group, members]) => ({
      apiGroups: [group],
      resources: members.map(({ plural }) => plural).toSorted(),
      verbs: ["list", "patch"],
    })),
  ];
}
