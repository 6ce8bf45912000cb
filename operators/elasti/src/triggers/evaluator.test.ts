import { ManualClock, sleep } from "@windlass/clock";
import { existing, testSource } from "@windlass/testing";
import { expect, onTestFinished, test } from "vitest";
import { ElastiService, type ElastiServiceObject } from "../service/elasti-service.ts";
import { awakeUntilAnnotation } from "../service/names.ts";
import { type EvaluatorOptions, TriggerEvaluator } from "./evaluator.ts";
import { fetchJson, TriggerError } from "./number-source.ts";
import { Prometheus } from "./prometheus.ts";

const start = Date.UTC(2026, 10, 18, 12);

function service(name: string, spec: object, status?: object): ElastiServiceObject {
  const metadata = {
    namespace: "shop",
    name,
    uid: name,
    resourceVersion: "1",
    creationTimestamp: new Date(start - 3_600_000).toISOString(),
  };
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  const whole = {
    scaleTargetRef,
    service: name,
    cooldownPeriod: 60,
    minTargetReplicas: 1,
    onDelete: "Restore",
  } as const;
  return existing(ElastiService, { metadata, spec: { ...whole, ...spec }, status }).object;
}

interface Run {
  readonly evaluator: TriggerEvaluator;
  readonly clock: ManualClock;
  readonly asked: () => readonly string[];
  readonly services: ElastiServiceObject[];
  /** Lets so many rounds of a second each pass. */
  rounds(count: number): Promise<void>;
}

/** An evaluator that looks every second at services that are changed at will. */
function run(services: ElastiServiceObject[], options: Partial<EvaluatorOptions> = {}): Run {
  const clock = new ManualClock(start);
  const fetchJson = options.fetchJson ?? (() => Promise.reject(new TriggerError("no server")));
  const evaluator = new TriggerEvaluator({
    prometheus: new Prometheus(fetchJson, { serverAddress: "http://prometheus" }),
    fetchJson,
    countRequests: () => Promise.resolve(undefined),
    intervalMs: 1_000,
    ...options,
  });
  const cache = () => services.map((object) => existing(ElastiService, object));
  const tried = testSource(evaluator.source, { clock, cache });
  const asked = () => tried.asked.map((one) => (one === "all" ? one : one.name));
  onTestFinished(() => tried[Symbol.dispose]());
  const rounds = async (count: number) => {
    for (let left = count; left > 0; left--) await clock.advance(1_000);
  };
  return { evaluator, clock, asked, services, rounds };
}

const http = (threshold: string | number = 1) => ({
  type: "http",
  metadata: { url: "http://queue/", valueLocation: "length", threshold },
});

test("a service sleeps once all its triggers have reported idle for the whole cooldown", async () => {
  let length = 3;
  const web = service("web", { triggers: [http()] });
  const { evaluator, asked, rounds } = run([web], { fetchJson: () => Promise.resolve({ length }) });
  await rounds(2);
  expect(evaluator.wishOf(web)).toBe("wake");
  length = 0;
  await rounds(59);
  expect(evaluator.wishOf(web)).toBe("stay");
  await rounds(1);
  expect(evaluator.wishOf(web)).toBe("sleep");
  expect(asked()).toEqual(["web", "web", "web"]);
});

test("a cooldown of zero means at once", async () => {
  const web = service("web", { cooldownPeriod: 0, triggers: [http()] });
  const { evaluator, rounds } = run([web], { fetchJson: () => Promise.resolve({ length: 0 }) });
  await rounds(1);
  expect(evaluator.wishOf(web)).toBe("sleep");
});

test("a service that was just woken stays up for its cooldown, whatever triggers say", async () => {
  const status = { lastScaledUpTime: new Date(start + 30_000).toISOString() };
  const web = service("web", { triggers: [http()] }, status);
  const { evaluator, rounds } = run([web], { fetchJson: () => Promise.resolve({ length: 0 }) });
  await rounds(85);
  expect(evaluator.wishOf(web)).toBe("stay");
  await rounds(6);
  expect(evaluator.wishOf(web)).toBe("sleep");
});

test("a trigger without an answer leaves the service as it is, and the cooldown starts over after it", async () => {
  let isDown = false;
  const web = service("web", { triggers: [http()] });
  const { evaluator, rounds } = run([web], {
    fetchJson: () => (isDown ? Promise.reject(new TriggerError("down")) : Promise.resolve({ length: 0 })),
  });
  await rounds(62);
  expect(evaluator.wishOf(web)).toBe("sleep");
  isDown = true;
  await rounds(1);
  expect(evaluator.wishOf(web)).toBe("stay");
  expect(evaluator.faultOf(web)).toBe("down");
  isDown = false;
  await rounds(59);
  expect(evaluator.faultOf(web)).toBeUndefined();
  expect(evaluator.wishOf(web)).toBe("stay");
  await rounds(3);
  expect(evaluator.wishOf(web)).toBe("sleep");
});

test("without triggers nothing is wished for", async () => {
  const web = service("web", {});
  const { evaluator, rounds } = run([web]);
  await rounds(100);
  expect(evaluator.wishOf(web)).toBe("stay");
});

test("outside of its enabled period a service is kept awake, in the zone that it names", async () => {
  // 12:00 UTC is 21:00 in Tokyo.
  const night = { schedule: "0 20 * * *", duration: "10h", timeZone: "Asia/Tokyo" };
  const [inside, outside] = [
    service("inside", { cooldownPeriod: 0, triggers: [http()], enabledPeriod: night }),
    service("outside", {
      cooldownPeriod: 0,
      triggers: [http()],
      enabledPeriod: { ...night, timeZone: "UTC" },
    }),
  ];
  const { evaluator, rounds } = run([inside, outside], { fetchJson: () => Promise.resolve({ length: 0 }) });
  await rounds(1);
  expect(evaluator.wishOf(inside)).toBe("sleep");
  expect(evaluator.wishOf(outside)).toBe("wake");
});

test("a schedule wakes a service at its start, and lets it sleep after its end", async () => {
  const schedule = { type: "schedule", metadata: { start: "1 12 * * *", end: "3 12 * * *" } };
  const web = service("web", { cooldownPeriod: 0, triggers: [schedule] });
  const { evaluator, rounds } = run([web]);
  await rounds(30);
  expect(evaluator.wishOf(web)).toBe("sleep");
  await rounds(31);
  expect(evaluator.wishOf(web)).toBe("wake");
  await rounds(120);
  expect(evaluator.wishOf(web)).toBe("sleep");
});

test("the resolver's counts say whether a service is idle, and never wake it", async () => {
  let requests = 5;
  let instance = "a";
  const web = service("web", { triggers: [{ type: "traffic" }] });
  const countRequests = () => Promise.resolve({ requests, inFlight: 0, stamp: `${instance}:${requests}` });
  const { evaluator, rounds } = run([web], { countRequests });
  await rounds(40);
  requests = 6;
  await rounds(59);
  expect(evaluator.wishOf(web)).toBe("stay");
  await rounds(5);
  expect(evaluator.wishOf(web)).toBe("sleep");
  requests = 7;
  await rounds(1);
  expect(evaluator.wishOf(web)).toBe("stay");
  await rounds(60);
  expect(evaluator.wishOf(web)).toBe("sleep");
  // A replica that has restarted, and has had as many requests again.
  instance = "b";
  await rounds(1);
  expect(evaluator.wishOf(web)).toBe("stay");
});

test("a request that is in flight is traffic, and so are counts that no resolver reports", async () => {
  const web = service("web", { cooldownPeriod: 0, triggers: [{ type: "traffic" }] });
  const { evaluator, rounds } = run([web], {
    countRequests: () => Promise.resolve({ requests: 1, inFlight: 1, stamp: "1" }),
  });
  await rounds(10);
  expect(evaluator.wishOf(web)).toBe("stay");
  const other = run([web]);
  await other.rounds(10);
  expect(other.evaluator.wishOf(web)).toBe("stay");
});

test("a slow server does not hold up the others", async () => {
  const slow = service("slow", {
    triggers: [{ ...http(), metadata: { ...http().metadata, url: "http://slow/" } }],
  });
  const quick = Array.from({ length: 50 }, (_, index) => service(`q${index}`, { triggers: [http()] }));
  const { evaluator, rounds } = run([slow, ...quick], {
    fetchJson: (url) =>
      url === "http://slow/" ? new Promise(() => undefined) : Promise.resolve({ length: 9 }),
  });
  await rounds(1);
  for (const one of quick) expect(evaluator.wishOf(one)).toBe("wake");
  expect(evaluator.wishOf(slow)).toBe("stay");
});

test("a service that wakes ahead of need is woken at the time it was needed on the days before", async () => {
  const before = [1, 2, 5].map((days) => new Date(start - days * 86_400_000 + 180_000).toISOString());
  const spec = { cooldownPeriod: 60, triggers: [http()], wakeAhead: { lead: "2m", timeZone: "UTC" } };
  const web = service("web", spec, { neededTimes: before.toReversed() });
  const without = service("without", { ...spec, wakeAhead: undefined }, { neededTimes: before });
  const { evaluator, asked, rounds } = run([web, without], {
    fetchJson: () => Promise.resolve({ length: 0 }),
  });
  await rounds(61);
  expect(evaluator.wishOf(web)).toBe("wake");
  expect(evaluator.wishOf(without)).not.toBe("wake");
  expect(asked()).toContain("web");
});

test("a person may keep a service awake until a time, or until they say otherwise", async () => {
  const kept = (name: string, until: string) => {
    const one = service(name, { cooldownPeriod: 0, triggers: [http()] });
    return { ...one, metadata: { ...one.metadata, annotations: { [awakeUntilAnnotation]: until } } };
  };
  const [timed, open] = [kept("timed", new Date(start + 30_000).toISOString()), kept("open", "I say so")];
  const { evaluator, asked, rounds } = run([timed, open], {
    fetchJson: () => Promise.resolve({ length: 0 }),
  });
  await rounds(29);
  expect([timed, open].map((one) => evaluator.wishOf(one))).toEqual(["wake", "wake"]);
  await rounds(2);
  expect([timed, open].map((one) => evaluator.wishOf(one))).toEqual(["sleep", "wake"]);
  expect(asked().filter((name) => name === "timed")).toHaveLength(2);
});

test("a zone that does not exist is a fault that names it", async () => {
  const enabledPeriod = { schedule: "0 8 * * *", duration: "10h", timeZone: "Mars/Olympus" };
  const web = service("web", { cooldownPeriod: 0, triggers: [http()], enabledPeriod });
  const { evaluator, asked, rounds } = run([web], { fetchJson: () => Promise.resolve({ length: 0 }) });
  await rounds(2);
  expect(evaluator.wishOf(web)).toBe("stay");
  expect(evaluator.faultOf(web)).toContain("Mars/Olympus");
  expect(asked()).toEqual(["web"]);
});

test("500 services of a server that takes two seconds for an answer are all judged within ten", async () => {
  const services = Array.from({ length: 500 }, (_, index) =>
    service(`s${index}`, {
      triggers: [{ type: "prometheus", metadata: { query: `requests_${index}`, threshold: 1 } }],
    }),
  );
  const started = Promise.withResolvers<Run>();
  const slowly = async () => {
    const { clock } = await started.promise;
    await sleep(clock, 2_000);
    return { data: { resultType: "scalar", result: [0, "1"] } };
  };
  const running = run(services, { fetchJson: slowly });
  started.resolve(running);
  await running.rounds(10);
  const wishes = services.map((one) => running.evaluator.wishOf(one));
  expect(new Set(wishes)).toEqual(new Set(["wake"]));
});

test.for([
  ["an address that none has", { url: "http://queue:99999/" }],
  ["a header that none may have", { url: "http://127.0.0.1:1/", headers: { "x-tenant": "a\nb" } }],
  ["a password that is not encoded", { url: "http://a:%zz@127.0.0.1:1/" }],
] as const)("a trigger with %s is reported, and keeps no other from being asked", async ([, metadata]) => {
  const bad = service("bad", { triggers: [{ ...http(), metadata: { ...http().metadata, ...metadata } }] });
  const scheduled = { type: "schedule", metadata: { start: "0 0 * * *", end: "0 0 1 1 *" } };
  const good = service("good", { triggers: [scheduled] });
  const { evaluator, rounds } = run([good, bad], { fetchJson });
  await rounds(2);
  await expect.poll(() => evaluator.faultOf(bad)).toContain("no request can have its address and headers");
  expect(evaluator.faultOf(bad)).not.toContain("%zz");
  expect(evaluator.wishOf(good)).toBe("wake");
});

test("what goes wrong with one service unexpectedly stays with it", async () => {
  const bad = service("bad", { triggers: [http()] });
  const good = service("good", { triggers: [{ type: "traffic" }] });
  let requests = 0;
  const { evaluator, rounds } = run([good, bad], {
    fetchJson: () => Promise.reject(new TypeError("a mistake of ours")),
    countRequests: () => Promise.resolve({ requests: requests++, inFlight: 0, stamp: String(requests) }),
  });
  await rounds(5);
  expect(evaluator.faultOf(bad)).toBe("a mistake of ours");
  expect(requests).toBeGreaterThan(4);
});

test("a period and a lead may be as short as Go writes them", async () => {
  const enabledPeriod = { schedule: "0 0 * * *", duration: "1500us", timeZone: "UTC" };
  const web = service("web", { enabledPeriod, wakeAhead: { lead: "5ns", timeZone: "UTC" } });
  const { evaluator, rounds } = run([web]);
  await rounds(2);
  expect(evaluator.wishOf(web)).toBe("wake");
});

test("headers come from Secrets of the namespace, and one that cannot be read is reported by its name", async () => {
  const asked: Readonly<Record<string, string>>[] = [];
  const secrets = new Map([["shop/queue", new Map([["token", "Bearer abc"]])]]);
  const secretTrigger = (name: string, key = "token") => ({
    type: "http",
    metadata: {
      ...http().metadata,
      headers: { "x-own": "1" },
      headersFrom: [{ name: "Authorization", secretKeyRef: { name, key } }],
    },
  });
  const [good, missing, keyless, forbidden] = ["queue", "none", "queue", "theirs"].map((name, index) =>
    service(`web-${index}`, { triggers: [secretTrigger(name, index === 2 ? "other" : "token")] }),
  ) as [ElastiServiceObject, ElastiServiceObject, ElastiServiceObject, ElastiServiceObject];
  const { evaluator, rounds } = run([good, missing, keyless, forbidden], {
    fetchJson: (_url, headers) => {
      asked.push(headers);
      return Promise.resolve({ length: 0 });
    },
    readSecret: ({ namespace, name }) =>
      name === "theirs"
        ? Promise.reject(new Error('secrets "theirs" is forbidden'))
        : Promise.resolve(secrets.get(`${namespace}/${name}`)),
  });
  await rounds(1);
  expect(asked[0]).toEqual({ "x-own": "1", Authorization: "Bearer abc" });
  expect(evaluator.faultOf(good)).toBeUndefined();
  expect(evaluator.faultOf(missing)).toBe("there is no Secret none with the key token");
  expect(evaluator.faultOf(keyless)).toBe("there is no Secret queue with the key other");
  expect(evaluator.faultOf(forbidden)).toContain("Secret theirs cannot be read");
});
