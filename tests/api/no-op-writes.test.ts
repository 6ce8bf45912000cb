import { type AnyKind, type InputOf, type KubernetesObject, metadataOnly } from "@windlass/client";
import { type Cache, ChildError, condition, createCache } from "@windlass/runtime";
import { PodDisruptionBudget, ServiceAccount } from "@windlass/runtime/kinds";
import { flavourFromEnvironment, startCluster, type TestCluster } from "@windlass/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SchemaFacts } from "../../packages/runtime/src/reconcile/schema-facts.ts";
import { type Choose, chooseFrom, edit, type Json, type JsonObject, thin } from "./no-op-writes/edits.ts";
import {
  type ChildWays,
  caughtUp,
  childSubject,
  fieldManager,
  isRefused,
  isTaken,
  type Parts,
  type Subject,
  statusSubject,
  verdictOf,
} from "./no-op-writes/harness.ts";
import { operatorKinds, operatorSamples } from "./no-op-writes/operator-samples.ts";
import { samples as builtinSamples, everyField, type KindSample, Sample } from "./no-op-writes/samples.ts";

const samples = [...builtinSamples, ...operatorSamples];

let cluster: TestCluster;
let cache: Cache;
let namespace: string;
let parts: Parts;
let count = 0;
/**
 * What the server said to the first apply after the others' edits, to see that the stories are
 * worth telling.
 */
const verdicts = { changes: 0, nothing: 0 };

/** A real server takes some ten times as long, and has the time. */
const isReal = flavourFromEnvironment() !== "embedded";
const runs = isReal ? 100 : 12;
const timeout = isReal ? 900_000 : 60_000;

beforeAll(async () => {
  cluster = await startCluster({ embedded: { controllers: "none" } });
  await cluster.install(Sample, ...operatorKinds);
  namespace = await cluster.createNamespace();
  // No controller makes it, and without it there are no pods.
  await cluster.client.create(ServiceAccount, { metadata: { namespace, name: "default" } });
  cache = createCache({ source: cluster.client });
  cache.trackFieldManager(fieldManager);
  for (const { kind } of samples) {
    cache.informer(kind, { namespace });
    cache.informer(metadataOnly(kind), { namespace });
  }
  await cache.waitForSync();
  const owner = await cluster.client.create(Sample, { metadata: { namespace, name: "owner" }, spec: {} });
  parts = { client: cluster.client, cache, schemas: new SchemaFacts(), ownerKind: Sample, owner };
}, 90_000);
afterAll(async () => {
  await cache?.stop();
  await cluster?.close();
}, 60_000);

/** What others do to an object between two reconciles. */
interface Hand {
  readonly how: "touch" | "update" | "update and back" | "apply" | "apply and drop" | "reset";
  readonly choices: readonly number[];
}

const choices = fc.array(fc.nat({ max: 10_000 }), { minLength: 12, maxLength: 12 });
const hand: fc.Arbitrary<Hand> = fc.record({
  how: fc.constantFrom("touch", "update", "update", "update and back", "apply", "apply and drop", "reset"),
  choices,
});

/** What happens to one object. */
interface Story {
  readonly ways: ChildWays;
  readonly first: readonly number[];
  /** Whether it is reconciled also between what others do. */
  readonly looks: boolean;
  readonly hands: readonly Hand[];
  /** What is wanted in the end, if that changes meanwhile. */
  readonly last: readonly number[] | undefined;
  /** Whether a new leader takes over. */
  readonly restarts: boolean;
}

const ways: fc.Arbitrary<ChildWays> = fc.record({
  metadataOnly: fc.constantFrom(false, false, true),
  update: fc.constantFrom("always", "always", "never"),
});

const story: fc.Arbitrary<Story> = fc.record({
  ways,
  first: choices,
  looks: fc.boolean(),
  hands: fc.array(hand, { maxLength: 3 }),
  last: fc.option(choices, { nil: undefined, freq: 2 }),
  restarts: fc.boolean(),
});

interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** Several tries, since much of what is drawn at random is refused. */
const tries = [0, 1, 2, 3, 4];
const sparing = [4, 8, 16, 64];

/** Has another client change the object. What the server refuses is tried in another way. */
async function interfere(subject: Subject, key: Key, { how, choices: numbers }: Hand): Promise<void> {
  const choose = chooseFrom(numbers);
  for (const _ of tries) {
    try {
      await change(subject, key, how, choose);
      return;
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
}

async function change(
  { kind, subresource }: Subject,
  key: Key,
  how: Hand["how"],
  choose: Choose,
): Promise<void> {
  const { client } = cluster;
  const options = { fieldManager: "hand", ...(subresource === "" ? {} : { subresource }) };
  const live = (await client.get(kind, key)) as unknown as JsonObject;
  const { apiVersion, kind: kindName, metadata } = live as { [field: string]: JsonObject };
  const head = { apiVersion, kind: kindName, metadata: { ...key } };
  const changed =
    subresource === "" ? edit(live, choose) : { ...live, ...edit({ status: live.status ?? {} }, choose) };
  const update = (object: object) => client.update(kind, object as InputOf<AnyKind>, options);
  const apply = (object: object) =>
    client.apply(kind, { ...object, ...head } as InputOf<AnyKind>, { ...options, force: true });
  switch (how) {
    case "touch":
      await client.patch(kind, key, {
        type: "merge",
        patch: { metadata: { annotations: { "example.com/touched": String(choose(1_000)) } } },
      });
      return;
    case "update":
      await update(changed);
      return;
    case "update and back": {
      const { resourceVersion, managedFields } = (await update(changed)).metadata;
      await update({ ...live, metadata: { ...metadata, resourceVersion, managedFields } });
      return;
    }
    case "apply":
    case "apply and drop": {
      const { metadata: _metadata, status, ...content } = changed;
      await apply(thin((subresource === "" ? content : { status }) as Json, choose, 3) as JsonObject);
      if (how === "apply and drop") await apply({});
      return;
    }
    case "reset":
      await client.patch(kind, key, {
        type: "json",
        patch: [{ op: "replace", path: "/metadata/managedFields", value: [{}] }],
      });
  }
}

/** Brings what is wanted, unless the server refuses it as others left the object. */
async function bringIfTaken(subject: Subject): Promise<void> {
  if (await isTaken(cluster.client, subject)) await subject.bring();
}

/**
 * Tells one story of a child that is created only. It is written to get its owner back, and its
 * content stays as it is.
 */
async function tellOfCreatedOnly(
  subject: Subject,
  key: Key,
  { looks, hands, restarts }: Story,
  changeMind: () => void,
): Promise<void> {
  const { client } = cluster;
  const { uid } = parts.owner.metadata;
  const isOwned = ({ metadata }: KubernetesObject) =>
    metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid) === true;
  // Without both it would not be pruned.
  const isRecorded = ({ metadata: { annotations, managedFields = [] } }: KubernetesObject) =>
    annotations?.["windlass.dev/applied"]?.startsWith(`${fieldManager}:`) === true &&
    managedFields.some(({ manager, operation }) => manager === fieldManager && operation === "Apply");
  const contentOf = ({ metadata: _metadata, ...content }: KubernetesObject) => content;
  const look = async () => {
    await caughtUp(cache, client, subject, key);
    const before = await client.get(subject.kind, key);
    // A real server applies nothing to an object that it cannot take apart.
    const isLost = isOwned(before) && !isRecorded(before) && !(await isTaken(client, subject));
    const hasWritten = await subject.bring();
    const after = await client.get(subject.kind, key);
    expect(contentOf(after)).toEqual(contentOf(before));
    if (isLost) return;
    expect(hasWritten).toBe(!(isOwned(before) && isRecorded(before)));
    expect(isOwned(after) && isRecorded(after)).toBe(true);
  };
  await subject.bring();
  for (const one of hands) {
    await interfere(subject, key, one);
    if (looks) await look();
  }
  changeMind();
  if (restarts) subject.restart();
  await look();
  await look();
}

/** Tells one story, and holds each decision to write against the server's own. */
async function tell(
  subject: Subject,
  key: Key,
  { ways: { metadataOnly: isLight = false }, looks, hands, restarts }: Story,
  changeMind: () => void,
): Promise<void> {
  await subject.bring();
  await caughtUp(cache, cluster.client, subject, key);
  for (const one of hands) {
    await interfere(subject, key, one);
    if (!looks) continue;
    await caughtUp(cache, cluster.client, subject, key);
    await bringIfTaken(subject);
  }
  changeMind();
  if (restarts) subject.restart();
  for (const round of ["first", "second"] as const) {
    await caughtUp(cache, cluster.client, subject, key);
    const { changes, isOrder, live, dry } = await verdictOf(cluster.client, subject);
    // What a cache of metadata cannot know.
    if (changes === undefined || (isLight && changes && isOrder)) return;
    if (round === "first") verdicts[changes ? "changes" : "nothing"] += 1;
    const hasWritten = await subject.bring();
    if (hasWritten !== changes)
      expect({ round, hasWritten, because: subject.because, object: live }).toEqual({
        round,
        hasWritten: changes,
        because: "what the server's dry run shows",
        object: dry,
      });
    if (round === "second") expect(hasWritten).toBe(false);
  }
}

test.for(samples)(
  "a $kind.kind is written if and only if the server's dry run changes it",
  { timeout },
  async ({ kind, full }: KindSample) => {
    await fc.assert(
      fc.asyncProperty(story, async (told) => {
        const key = { namespace, name: `child-${count++}` };
        const subject = childSubject(parts, kind, { metadata: key }, told.ways);
        const metadata = {
          ...key,
          labels: { a: "1", b: "2" },
          annotations: { note: "x" },
          finalizers: ["example.com/b", "example.com/a"],
        };
        const want = async (numbers: readonly number[]) => {
          for (const often of sparing) {
            const shape = thin(full as Json, chooseFrom(numbers), often) as JsonObject;
            subject.wanted = { ...shape, metadata } as unknown as KubernetesObject;
            if (await isTaken(cluster.client, subject)) return;
          }
          subject.wanted = { ...full, metadata };
        };
        await want(told.first);
        const first = subject.wanted;
        await want(told.last ?? told.first);
        const last = subject.wanted;
        subject.wanted = first;
        const tellIt = told.ways.update === "never" ? tellOfCreatedOnly : tell;
        try {
          await tellIt(subject, key, told, () => {
            subject.wanted = last;
          });
        } catch (error) {
          // Another client removed all that identifies its owner.
          if (!(error instanceof ChildError)) throw error;
        }
      }),
      { numRuns: runs },
    );
  },
);

test("a status is written if and only if the server's dry run changes it", { timeout }, async () => {
  const conditions = [condition("Ready", true, "Yes"), condition("Other", false, "No", "because")];
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const key = { namespace, name: `status-${count++}` };
      await cluster.client.create(Sample, { metadata: key, spec: {} });
      await caughtUp(cache, cluster.client, { cachedKind: Sample }, key);
      const subject = statusSubject(parts, key, {});
      const want = async (numbers: readonly number[]) => {
        for (const often of sparing) {
          const choose = chooseFrom(numbers);
          const kept = conditions.filter(() => choose(3) > 0);
          subject.wanted = {
            ...(choose(4) > 0 ? { conditions: kept } : {}),
            ...(thin(everyField as Json, choose, often) as JsonObject),
          };
          if (await isTaken(cluster.client, subject)) return;
        }
        subject.wanted = { ...everyField, conditions };
      };
      await want(told.first);
      const first = subject.wanted;
      await want(told.last ?? told.first);
      const last = subject.wanted;
      subject.wanted = first;
      await tell(subject, key, { ...told, ways: {} }, () => {
        subject.wanted = last;
      });
    }),
    { numRuns: runs * 4 },
  );
});

test("a change of order in the metadata is reverted, though it makes no new generation", async () => {
  const kind = PodDisruptionBudget;
  const key = { namespace, name: `order-${count++}` };
  const finalizers = ["example.com/b", "example.com/a"];
  const spec = { minAvailable: 1, selector: { matchLabels: { app: "sample" } } };
  const subject = childSubject(parts, kind, { metadata: { ...key, finalizers }, spec } as KubernetesObject);
  const patch = async (metadata: object) => {
    await cluster.client.patch(kind, key, { type: "merge", patch: { metadata } });
    await caughtUp(cache, cluster.client, subject, key);
    return await subject.bring();
  };
  await subject.bring();
  await caughtUp(cache, cluster.client, subject, key);
  expect(await patch({ labels: { touched: "once" } })).toBe(false);
  expect(await patch({ labels: { touched: "twice" } })).toBe(false);
  expect(await patch({ finalizers: finalizers.toReversed() })).toBe(true);
  const { metadata } = await cluster.client.get(kind, key);
  expect(metadata.finalizers).toEqual(finalizers);
});

test("often enough the server changes something, and often enough it does not", () => {
  // A third of the children are created only, and are not held against a dry run.
  const stories = runs * ((samples.length * 2) / 3 + 4);
  expect(verdicts.changes).toBeGreaterThan(stories / 4);
  expect(verdicts.nothing).toBeGreaterThan(stories / 10);
});
