import { EventV1 as Event, Service } from "@windlass/kinds/builtin";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Controller, controller } from "../controller/controller.ts";
import type { Manager } from "../manager/manager.ts";
import { child } from "./child.ts";
import { afterLoss, type Contest } from "./contest.ts";
import { key, type ModelRun, running, WebApp, webapp } from "./model-run.fixture.ts";
import { appliedAnnotation } from "./standing.ts";

const minute = 60_000;
const hour = 60 * minute;

/** A controller whose every app has a Service with this port. */
function servesAt(port: number, name: string): Controller<typeof WebApp> {
  return controller(WebApp, {
    name,
    owns: [Service],
    reconcile: (app) => ({
      children: [
        child(Service, {
          metadata: { name: app.metadata.name },
          spec: { selector: { app: app.metadata.name }, ports: [{ name: "http", port }] },
        }),
      ],
    }),
  });
}

/** Two controllers at work on one app, which want its Service at different ports. */
async function besideRival(name: string): Promise<{ readonly run: ModelRun; readonly rival: Manager }> {
  const run = await running(servesAt(80, "webapp"));
  run.cluster.takeWrites();
  const rival = run.another().add(servesAt(81, name));
  await rival.start();
  await run.settle();
  return { run, rival };
}

const port = (run: ModelRun) => run.cluster.get(Service, key)?.spec?.ports?.[0]?.port;
const ready = (run: ModelRun) => run.app?.status?.conditions?.find((one) => one.type === "Ready");
const takeServiceWrites = (run: ModelRun) =>
  run.cluster.takeWrites().filter(({ path }) => path.includes("/services/"));

describe("a child that another program changes", () => {
  const edit = async (run: ModelRun, times: number, pauseMs: number) => {
    for (let round = 1; round <= times; round++) {
      const ports = [{ name: "http", port: 8000 + round }];
      const options = { fieldManager: "somebody", force: true };
      await run.cluster.client.apply(Service, { metadata: key, spec: { ports } }, options);
      await run.settle(pauseMs);
      expect(port(run)).toBe(80);
    }
  };
  const notes = (run: ModelRun) =>
    run.cluster.cache.list(Event).filter(({ reason }) => reason === "ChildContested");

  test("again and again is put back each time, and who it is is reported once an hour", async () => {
    const run = await running(servesAt(80, "webapp"));
    await edit(run, 30, minute);
    expect(notes(run)).toHaveLength(1);
    expect(notes(run)[0]?.note).toMatch(
      /^Service default\/web was changed 5 times within ten minutes, most recently by somebody \(spec\.ports.*\), and put back each time by webapp\.windlass\./,
    );
    expect(run.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    await run.manager.stop();
  });

  test("now and then is put back without a word", async () => {
    const run = await running(servesAt(80, "webapp"));
    await edit(run, 30, 3 * minute);
    expect(notes(run)).toEqual([]);
    await run.manager.stop();
  });

  test("while the owner changes too is none of this", async () => {
    const run = await running(servesAt(80, "webapp"));
    for (let round = 1; round <= 30; round++) {
      run.put({}, "web");
      run.cluster.put(Service, { ...run.cluster.get(Service, key), status: { round } });
      await run.settle(minute / 10);
    }
    expect(notes(run)).toEqual([]);
    await run.manager.stop();
  });
});

describe("a child that two controllers want", () => {
  test("is not written all the time: one leaves it to the other, for longer and longer", async () => {
    const { run, rival } = await besideRival("second");
    expect(takeServiceWrites(run).length).toBeLessThanOrEqual(5);
    await run.settle(hour);
    expect(takeServiceWrites(run).length).toBeLessThanOrEqual(14);
    await run.settle(24 * hour);
    expect(takeServiceWrites(run).length).toBeLessThanOrEqual(60);
    await rival.stop();
    await run.manager.stop();
  });

  test("is named with both controllers and the field in condition, event, metric and log", async () => {
    const { run, rival } = await besideRival("second");
    const message = expect.stringMatching(
      /^Service default\/web is applied for WebApp default\/web by (webapp\.windlass and by second\.windlass|second\.windlass and by webapp\.windlass), and each undoes what the other has set \(spec\.ports.*\)\. .*Have only one controller ask for it/,
    );
    const reason = "ChildContested";
    expect(ready(run)).toMatchObject({ status: "False", reason, message });
    expect(run.cluster.cache.list(Event)).toContainEqual(
      expect.objectContaining({ type: "Warning", reason, note: message }),
    );
    expect(run.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        fields: expect.objectContaining({ reason, error: message }),
      }),
    );
    await rival.stop();
    await run.manager.stop();
  });

  test("is named where both are processes with one field manager", async () => {
    const { run, rival } = await besideRival("webapp");
    expect(ready(run)?.message).toMatch(
      /by two processes, both as webapp\.windlass, .*Run one installation of the operator/,
    );
    takeServiceWrites(run);
    await run.settle(hour);
    expect(takeServiceWrites(run).length).toBeLessThanOrEqual(14);
    await rival.stop();
    await run.manager.stop();
  });

  test.for(["second", "webapp"])("is taken back some time after the other (%s) is gone", async (name) => {
    const { run, rival } = await besideRival(name);
    await run.settle(hour);
    await rival.stop();
    await run.settle(2 * hour);
    expect(port(run)).toBe(80);
    run.cluster.takeWrites();
    await run.settle(24 * hour);
    expect(takeServiceWrites(run)).toEqual([]);
    await run.manager.stop();
  });

  test("and another deletes because it does not, is not created and deleted all the time", async () => {
    const none = controller(WebApp, { name: "webapp", owns: [Service], reconcile: () => ({ children: [] }) });
    for (const survivor of ["wants it", "does not"]) {
      const run = await running(servesAt(80, "webapp"));
      const rival = run.another().add(none);
      await rival.start();
      await run.settle();
      const isService = ({ path }: { readonly path: string }) => path.includes("/services");
      expect(run.cluster.takeWrites().filter(isService).length).toBeLessThanOrEqual(8);
      await run.settle(hour);
      expect(run.cluster.takeWrites().filter(isService).length).toBeLessThanOrEqual(16);
      expect(run.cluster.cache.list(Event)).toContainEqual(
        expect.objectContaining({
          reason: "ChildContested",
          note: expect.stringContaining("another process applies it again and again, as webapp.windlass too"),
        }),
      );
      await (survivor === "does not" ? run.manager : rival).stop();
      await run.settle(2 * hour);
      expect(port(run)).toBe(survivor === "does not" ? undefined : 80);
      await (survivor === "does not" ? rival : run.manager).stop();
    }
  });

  test("now and then, as its owner changes its mind, is created and deleted each time", async () => {
    const run = await running(webapp);
    for (let round = 1; round <= 20; round++) {
      run.put({ expose: round % 2 === 0 });
      await run.settle();
      expect(port(run)).toBe(round % 2 === 0 ? 80 : undefined);
    }
    expect(run.lines.filter(({ level }) => level === "error")).toEqual([]);
    await run.manager.stop();
  });

  test("is not contested by what people edit, however often, the mark included", async () => {
    const run = await running(servesAt(80, "webapp"));
    for (let round = 1; round <= 20; round++) {
      const service = run.cluster.get(Service, key);
      const mark = service?.metadata.annotations?.[appliedAnnotation];
      run.cluster.put(Service, {
        ...service,
        metadata: { ...service?.metadata, annotations: { [appliedAnnotation]: `${mark}-${round}` } },
        spec: { ...service?.spec, ports: [{ name: "http", port: 8000 + round }] },
      });
      await run.settle();
      expect(port(run)).toBe(80);
    }
    expect(run.lines.filter(({ level }) => level === "error")).toEqual([]);
    await run.manager.stop();
  });

  test("is taken over at once, with one write, from a controller that is gone", async () => {
    const run = await running(servesAt(80, "webapp"));
    await run.manager.stop();
    run.cluster.takeWrites();
    run.manager = run.another().add(servesAt(81, "renamed"));
    await run.manager.start();
    await run.settle(hour);
    expect(port(run)).toBe(81);
    expect(takeServiceWrites(run)).toHaveLength(1);
    await run.manager.stop();
  });

  test("and was written without an answer is not taken for another's", async () => {
    const run = await running(servesAt(80, "webapp"));
    await run.manager.stop();
    const wants = { port: 80 };
    const changing = controller(WebApp, {
      name: "webapp",
      owns: [Service],
      reconcile: () => ({
        children: [
          child(Service, {
            metadata: { name: "web" },
            spec: { selector: { app: "web" }, ports: [{ name: "http", port: wants.port }] },
          }),
        ],
      }),
    });
    run.manager = run.another().add(changing);
    await run.manager.start();
    await run.settle();
    for (let round = 1; round <= 10; round++) {
      run.cluster.losesAnswer = ({ path, method }) => method === "PATCH" && path.includes("/services/");
      wants.port += 1;
      run.put({ image: `nginx:${wants.port}` });
      await run.settle(1);
      run.cluster.losesAnswer = undefined;
      wants.port += 1;
      run.put({ image: `nginx:${wants.port}` });
      await run.settle(10_000);
      expect(port(run)).toBe(wants.port);
    }
    expect(ready(run)?.reason).not.toBe("ChildContested");
    await run.manager.stop();
  });
});

test("what is lost is taken back a few times at once, then ever more rarely, and never given up", () => {
  const gaps = fc.array(fc.nat(20 * minute), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(gaps, (given) => {
      let contest: Contest | undefined;
      let now = 0;
      const takes: number[] = [];
      for (const gap of given) {
        now += gap;
        const decision = afterLoss(contest, now);
        contest = decision.contest;
        if (decision.isTaken) takes.push(now);
        if (contest.is === "left") expect(afterLoss(contest, contest.until).isTaken).toBe(true);
        if (contest.is === "left") expect(contest.until - now).toBeLessThanOrEqual(hour);
      }
      for (const [index, at] of takes.entries()) {
        const third = takes[index + 2];
        if (third !== undefined) expect(third - at).toBeGreaterThanOrEqual(minute);
      }
    }),
  );
});
