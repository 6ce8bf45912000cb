import { setTimeout as delay } from "node:timers/promises";
import { ignoreNotFound, type NamespacedKey, TransportError } from "@windlass/client";
import { EndpointSlice, Lease } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ElastiService } from "../../operators/elasti/src/index.ts";
import { resolverSliceName } from "../../operators/elasti/src/service/names.ts";
import { agnhost } from "../../operators/elasti/testing/agnhost.ts";
import {
  type LabEnvironment,
  labEnvironment,
  takesConnections,
} from "../../operators/elasti/testing/lab-environment.ts";
import { askOnce, type LoadResult, startLoad, untilAnswered } from "../../operators/elasti/testing/load.ts";
import { record } from "../../operators/elasti/testing/record.ts";
import { createTarget, phase, sendToSleep, urlOf } from "../../operators/elasti/testing/traffic-suite.ts";

const cycles = Number(process.env.ELASTI_CYCLES ?? 4);
/** How long the cycles with disturbances may go on. */
const minutes = process.env.ELASTI_MINUTES === undefined ? undefined : Number(process.env.ELASTI_MINUTES);
const perSecond = Number(process.env.ELASTI_RATE ?? 200);
const wait = { timeout: 90_000 };

/** Real pods behind a real kube-proxy, and the operator and the resolver in pods beside them. */
let lab: LabEnvironment;
const environment = () => ({ ...lab, container: agnhost });

beforeAll(async () => {
  lab = await labEnvironment();
}, 300_000);
afterAll(() => lab[Symbol.asyncDispose](), 300_000);
afterEach(async () => {
  const { client, namespace } = lab;
  const { items } = await client.list(ElastiService, { namespace });
  // One that is about to go may be gone by now.
  for (const { metadata } of items)
    await ignoreNotFound(client.delete(ElastiService, { namespace, name: metadata.name }));
});

/** What was done to pods while a service slept and woke under load, and the outcome. */
interface Disturbed {
  readonly key: NamespacedKey;
  readonly result: LoadResult;
  readonly cycles: number;
  readonly minutes: number;
  /** How often each disturbance was. */
  readonly times: Readonly<Record<string, number>>;
}

type Disturbance = readonly [name: string, disturb: () => Promise<readonly string[]>];

/** Has a service sleep and wake under load, with disturbances at random. */
async function cycleDisturbed(name: string, disturbances: readonly Disturbance[]): Promise<Disturbed> {
  const { client } = lab;
  const key = await createTarget(environment(), name);
  // Answers with the address that it sees: a resolver's, or the client's own past the resolver.
  const url = await urlOf(client, key, "/clientip");
  await untilAnswered(url);
  const began = performance.now();
  const load = startLoad(url, perSecond);
  const noted: string[] = [];
  const note = (what: string) => noted.push(`${new Date().toISOString().slice(11, 23)} ${what}`);
  const times: Record<string, number> = {};
  let isOver = false;
  const looking = noteEndpoints(key, note, () => isOver);
  const disturbing = (async () => {
    while (!isOver) {
      const [what, disturb] = disturbances[Math.floor(Math.random() * disturbances.length)] as Disturbance;
      try {
        const pods = await disturb();
        if (pods.length > 0) {
          note(`${what}: ${pods.join(", ")}`);
          times[what] = (times[what] ?? 0) + 1;
        }
      } catch (error) {
        // An API server without CPU to spare cannot be asked to disturb a pod.
        note(`${what} failed: ${String(error)}`);
      }
      await delay(1_000 + Math.random() * 5_000);
    }
  })();
  const isTimeLeft = () => minutes === undefined || performance.now() - began < minutes * 60_000;
  let done = 0;
  let isWhole = false;
  try {
    for (; done < cycles && isTimeLeft(); done++) {
      const waking = patiently(() => phase(client, key, "Waking"));
      await patiently(() => sendToSleep(client, key));
      await waking;
      note("waking");
      await patiently(() => phase(client, key, "Serving"));
      note("serving");
      const { sent, failures } = load.result;
      if ((done + 1) % 5 === 0 || failures.length > 0)
        process.stdout.write(
          `${name}: ${done + 1} cycles in ${Math.round((performance.now() - began) / 1_000)} s, ${sent} sent, ${failures.length} failed\n`,
        );
    }
    isWhole = true;
  } finally {
    isOver = true;
    await Promise.all([disturbing, looking]);
    const kinds = Object.entries(times).map(([what, count]) => `${what} ${count}`);
    const { sent, failures } = await load.stop();
    process.stdout.write(
      `${done} cycles with ${kinds.join(", ")}: ${sent} sent, ${failures.length} failed\n`,
    );
    if (failures.length > 0 || !isWhole) process.stdout.write(`${noted.join("\n")}\n`);
    if (!isWhole) await tellWhoLeads(key);
  }
  const took = Math.round((performance.now() - began) / 6_000) / 10;
  return { key, result: load.result, cycles: done, minutes: took, times };
}

/** Notes where a Service leads, each time that it changes. */
async function noteEndpoints(
  { namespace, name }: NamespacedKey,
  note: (what: string) => void,
  isOver: () => boolean,
): Promise<void> {
  const labelSelector = `kubernetes.io/service-name=${name}`;
  let before = "";
  while (!isOver()) {
    const { items } = await patiently(() => lab.client.list(EndpointSlice, { namespace, labelSelector }));
    const ready = items
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready ?? true);
    const now = ready
      .flatMap(({ addresses }) => addresses)
      .toSorted()
      .join(", ");
    if (now !== before) note(`leads to ${now === "" ? "nothing" : now}`);
    before = now;
    await delay(100);
  }
}

test("operators that are killed, and resolvers that are replaced or stand still, lose nothing", {
  timeout: 3_600_000,
}, async () => {
  const { result, cycles: done, minutes: took, times } = await cycleDisturbed("chaos", disturbances);
  const { sent, ok, failures } = result;
  expect(failures).toEqual([]);
  expect(ok).toBe(sent);
  await record("sleeps and wakes with disturbances at random", {
    cycles: done,
    ...times,
    requests: sent,
    lost: failures.length,
    perSecond,
    minutes: took,
  });
});

/** What was killed of a resolver, and for how long requests may have failed by it. */
interface Kill {
  readonly what: "process" | "replica";
  readonly atMs: number;
  /** When the command had returned: on a busy node it takes a second or more. */
  readonly killedMs: number;
  /**
   * A process: when it had ended. A replica: when the Service led no more to it, or it took
   * connections again.
   */
  readonly overMs: number;
  /** Requests that it held, or had forwarded, before the command: by the kill it may be more. */
  readonly inHand: number;
  /** Whether an operator led. */
  readonly isLed: boolean;
}

/** How long after that the node's rules may still lead to it: kube-proxy waits up to a second. */
const rulesFollowMs = 1_000;
/** How long a client may take to see that a connection it keeps has ended. */
const endSeenMs = 100;
/** How long a Service may lead to a replica that is dead, whether or not an operator leads. */
const outWithinMs = 2_000;

test("a process of a resolver that is killed costs what it had, and a replica what comes before it is out", {
  timeout: 3_600_000,
}, async () => {
  const kills: Kill[] = [];
  const killed = (count: number) => killResolver("killed-often", count, kills);
  const { result, ...done } = await cycleDisturbed("killed-often", [
    ["processesKilled", () => killed(1)],
    ["processesKilled", () => killed(1)],
    ["replicasKilled", () => killed(lab.processesOf("resolver"))],
    ["operatorsKilled", () => killOperators(1)],
  ]);
  const { sent, ok, failures, failedBetween } = result;
  expect(ok + failures.length).toBe(sent);
  // What it had in hand fails with it. A process leaves nobody who listens behind: what is sent
  // later finds the other. What is sent to a dead replica fails at once, or when the client's
  // kernel has tried again.
  const isBy = ({ what, atMs, overMs }: Kill, [sentMs, failedMs]: readonly [number, number]) =>
    what === "process"
      ? sentMs <= overMs + endSeenMs && failedMs >= atMs
      : (sentMs >= atMs || failedMs >= atMs) && sentMs <= overMs + rulesFollowMs;
  const lostBy = (some: readonly Kill[]) =>
    failedBetween.filter((times) => some.some((kill) => isBy(kill, times))).length;
  /** Those whose connection nobody took: another process of the replica would have. */
  const refusedBy = (some: readonly Kill[]) =>
    failedBetween.filter(
      (times, index) => failures[index]?.endsWith("ECONNREFUSED") && some.some((kill) => isBy(kill, times)),
    ).length;
  const of = (what: Kill["what"], isLed: boolean) =>
    kills.filter((kill) => kill.what === what && kill.isLed === isLed);
  const inHand = (some: readonly Kill[]) => some.reduce((sum, kill) => sum + kill.inHand, 0);
  const worstMs = (some: readonly Kill[]) =>
    Math.round(Math.max(0, ...some.map(({ killedMs, overMs }) => overMs - killedMs)));
  const shown = Object.fromEntries(
    (["process", "replica"] as const).flatMap((what) =>
      [true, false].flatMap((isLed) => {
        const some = of(what, isLed);
        const name = `${what}${isLed ? "WithLeader" : "WithoutLeader"}`;
        return [
          [`${name}Kills`, some.length],
          [`${name}InHand`, inHand(some)],
          [`${name}Lost`, lostBy(some)],
          [`${name}Refused`, refusedBy(some)],
          [`${name}WorstMs`, worstMs(some)],
        ];
      }),
    ),
  );
  process.stdout.write(`${JSON.stringify(shown)}\n`);
  const explained = (times: readonly [number, number]) => kills.some((kill) => isBy(kill, times));
  expect(failures.filter((_, index) => !explained(failedBetween[index] ?? [0, 0]))).toEqual([]);
  expect(worstMs(kills.filter(({ what }) => what === "replica"))).toBeLessThan(outWithinMs);
  await record("sleeps and wakes with resolvers killed at random", {
    cycles: done.cycles,
    ...done.times,
    requests: sent,
    lost: failures.length,
    ...shown,
    perSecond,
    minutes: done.minutes,
  });
});

/** Kills so many processes of a resolver that is ready, unless it is the only one. */
async function killResolver(service: string, count: number, kills: Kill[]): Promise<readonly string[]> {
  const resolvers = await lab.podsOf("resolver");
  const chosen = resolvers[Math.floor(Math.random() * resolvers.length)];
  // One at least is left, and the last one that was killed is back.
  if (resolvers.length < 2 || !chosen) return [];
  const [leader] = await lab.podsOf("operator");
  const isLed = leader?.metadata.name === (await lab.leader());
  const first = Math.floor(Math.random() * lab.processesOf("resolver"));
  const all = Array.from({ length: count }, (_, index) => (first + index) % lab.processesOf("resolver"));
  const counts = await Promise.all(all.map((which) => lab.inHandOf(chosen, which)));
  const inHand = counts.reduce((sum, one) => sum + one, 0);
  const atMs = performance.now();
  await Promise.all(all.map((which) => lab.kill(chosen, which)));
  const killedMs = performance.now();
  const what = count === 1 ? "process" : "replica";
  if (what === "replica")
    await untilOver({ namespace: lab.namespace, name: service }, chosen.status?.podIP ?? "");
  else while (await lab.isServing(chosen, first)) await delay(5);
  const overMs = performance.now();
  kills.push({ what, atMs, killedMs, overMs, inHand, isLed });
  // The kubelet waits ever longer before it starts a container again: another pod takes its place.
  if (chosen.status?.containerStatuses?.some(({ restartCount }) => restartCount > 0)) await lab.end(chosen);
  const took = `${inHand} requests, over after ${Math.round(overMs - atMs)} ms`;
  return [`${what} of ${chosen.metadata.name} with ${took}, ${isLed ? "with" : "without"} a leader`];
}

/** Waits until a Service leads no more to a resolver that was killed, or to one that is back. */
async function untilOver({ namespace, name }: NamespacedKey, address: string): Promise<void> {
  const labelSelector = `kubernetes.io/service-name=${name}`;
  let wasDead = false;
  for (let left = 600; left > 0; left--) {
    const { items } = await patiently(() => lab.client.list(EndpointSlice, { namespace, labelSelector }));
    const slice = items.find(({ endpoints }) =>
      (endpoints ?? []).some(({ addresses }) => addresses.includes(address)),
    );
    const takes = slice !== undefined && (await takesConnections(address, slice.ports?.[0]?.port ?? 0));
    if (slice === undefined || (wasDead && takes)) return;
    wasDead ||= !takes;
    await delay(50);
  }
  throw new Error(`Service ${name} still leads to ${address}, where nobody listens`);
}

/** What it takes to find out why a service did not do what it was asked for. */
async function tellWhoLeads(key: NamespacedKey): Promise<void> {
  const { client, system } = lab;
  const [{ metadata, status }, lease, operators] = await patiently(() =>
    Promise.all([
      client.get(ElastiService, key),
      client.get(Lease, { namespace: system, name: "elasti-operator" }),
      lab.podsOf("operator"),
    ]),
  );
  const names = operators.map((pod) => pod.metadata.name);
  const seen = { annotations: metadata.annotations, phase: status?.phase, lease: lease.spec, ready: names };
  process.stdout.write(`at ${new Date().toISOString().slice(11, 23)}: ${JSON.stringify(seen)}\n`);
}

/** Asks again where an API server without CPU to spare does not answer. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let left = 10; ; left--)
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TransportError) || left === 0) throw error;
    }
}

/**
 * Deletes and kills pods of the operator and of the resolver, at random. @returns which pod, if
 * there was one
 */
const disturbances: readonly Disturbance[] = [
  ["operatorsKilled", () => killOperators(1)],
  ["allOperatorsKilled", () => killOperators(2)],
  [
    "resolversReplaced",
    async () => {
      const resolvers = await lab.podsOf("resolver");
      const chosen = resolvers[Math.floor(Math.random() * resolvers.length)];
      // One at least is left, as a PodDisruptionBudget has it.
      if (resolvers.length < 2 || !chosen) return [];
      await lab.end(chosen);
      return [chosen.metadata.name];
    },
  ],
  ["resolversFrozen", () => freezeOne("resolver")],
  ["operatorsFrozen", () => freezeOne("operator")],
];

/**
 * As by a lost node: others take their place, and are not made to wait for a restart. The leader is
 * among them, and nobody is killed before there is one again: who waits to lead has to live for as
 * long as the last one's lease.
 */
async function killOperators(count: number): Promise<readonly string[]> {
  const operators = await lab.podsOf("operator");
  if (operators.length < 2 || operators[0]?.metadata.name !== (await lab.leader())) return [];
  const killed = operators.slice(0, count);
  await Promise.all(killed.map((pod) => lab.kill(pod)));
  for (const pod of killed) await lab.end(pod);
  return killed.map(({ metadata }) => metadata.name);
}

async function freezeOne(part: "operator" | "resolver"): Promise<readonly string[]> {
  const pods = await lab.podsOf(part);
  const chosen = pods[Math.floor(Math.random() * pods.length)];
  if (!chosen) return [];
  await lab.freeze(chosen, 1_000 + Math.random() * 4_000);
  return [chosen.metadata.name];
}

test("a resolver that is killed takes what it carried with it, and nothing after that", async () => {
  const { client } = lab;
  // A traffic trigger keeps the resolver in the path while the target is awake.
  const key = await createTarget(environment(), "killed", { triggers: [{ type: "traffic" }] });
  const url = await urlOf(client, key);
  await phase(client, key, "Relaying");
  await untilAnswered(url);
  const victim = (await lab.podsOf("resolver"))[0];
  if (!victim) throw new Error("there is no resolver");
  const load = startLoad(url, perSecond);
  const hasSent = (count: number) =>
    expect.poll(() => load.result.sent, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
  await hasSent(perSecond * 3);
  const before = load.result.sent;
  const isKilled = Promise.all([lab.kill(victim, 0), lab.kill(victim, 1)]);
  const isOut = waitFor(
    client,
    EndpointSlice,
    { namespace: lab.namespace, name: resolverSliceName(key.name) },
    ({ endpoints }) =>
      !(endpoints ?? []).some(({ addresses }) => addresses.includes(victim.status?.podIP ?? "")),
    wait,
  );
  const killed = performance.now();
  await isKilled;
  await isOut;
  const outAfter = performance.now() - killed;
  await hasSent(load.result.sent + perSecond * 5);
  const { sent, failures } = await load.stop();
  const late = failures.filter((failure) => Number(/^#(\d+)/.exec(failure)?.[1]) > before + perSecond * 3);
  process.stdout.write(
    `resolver killed: out of the EndpointSlice after ${Math.round(outAfter)} ms, ${failures.length} of ${sent} lost\n`,
  );
  expect(late).toEqual([]);
  expect(failures.length).toBeLessThan(perSecond);
});

test("a request that comes when the leader is killed is answered as soon as its lease is over", async () => {
  const { client, system } = lab;
  const key = await createTarget(environment(), "leaderless");
  const url = await urlOf(client, key);
  await untilAnswered(url);
  const cold: number[] = [];
  for (const isKilled of [false, true]) {
    await phase(client, key, "Serving");
    await sendToSleep(client, key);
    await phase(client, key, "Asleep");
    const [leader] = await lab.podsOf("operator");
    if (isKilled && leader) await lab.kill(leader);
    const { status, ms } = await askOnce(url);
    expect(status).toBe(200);
    cold.push(ms);
  }
  const { spec } = await client.get(Lease, { namespace: system, name: "elasti-operator" });
  const leaseMs = (spec?.leaseDurationSeconds ?? 0) * 1_000;
  const [led = 0, leaderless = 0] = cold;
  process.stdout.write(
    `woken in ${Math.round(led)} ms, and in ${Math.round(leaderless)} ms when the leader was killed\n`,
  );
  // A start takes its time; twice as much on a busy node.
  expect(leaderless).toBeLessThan(leaseMs + 1_000 + 2 * led);
  await record("a wake when the leader is killed", {
    ms: Math.round(leaderless),
    withLeaderMs: Math.round(led),
    leaseMs,
  });
});
