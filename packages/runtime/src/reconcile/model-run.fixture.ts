import type { AnyKind } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { Deployment, Service } from "@windlass/kinds/builtin";
import { z } from "zod";
import { type Controller, controller } from "../controller/controller.ts";
import type { ControllerOptions } from "../controller/options.ts";
import { type Manager, manager } from "../manager/manager.ts";
import type { ManagerOptions } from "../manager/options.ts";
import { defineResource } from "../resource/index.ts";
import { type LoggedLine, recordingLogger } from "../testing/recording-logger.ts";
import { type Child, child } from "./child.ts";
import { condition } from "./condition.ts";
import { ModelCluster } from "./model-cluster.fixture.ts";
import { noTracing } from "./tracing.ts";

/** The kind that tests reconcile. */
export const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  spec: z.object({
    image: z.string().default("nginx:1"),
    replicas: z.int().default(1),
    expose: z.boolean().default(true),
    args: z.array(z.string()).optional(),
    cpu: z.string().optional(),
  }),
  status: z.object({
    availableReplicas: z.int().optional(),
    url: z.string().optional(),
    detail: z.object({ large: z.string() }).optional(),
  }),
});

/** An object of that kind. */
export type WebAppObject = ReturnType<typeof WebApp.make>;

/** Where the tests' one object is. */
export const key = { namespace: "default", name: "web" };

export function deploymentFor(app: WebAppObject): Child<typeof Deployment> {
  const { name } = app.metadata;
  const { image, replicas, args, cpu } = app.spec;
  const container = {
    name: "app",
    image,
    ...(args ? { args } : {}),
    ...(cpu ? { resources: { requests: { cpu } } } : {}),
  };
  return child(Deployment, {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
    },
  });
}

export function serviceFor(app: WebAppObject): Child<typeof Service> {
  const { name } = app.metadata;
  return child(Service, {
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ name: "http", port: 80 }] },
  });
}

/** The controller of the plan's first page. */
export const webapp = controller(WebApp, {
  owns: [Deployment, Service],
  reconcile: (app, { owned }) => {
    const running = owned(Deployment, app.metadata.name)?.status?.availableReplicas ?? 0;
    return {
      children: [deploymentFor(app), ...(app.spec.expose ? [serviceFor(app)] : [])],
      status: {
        availableReplicas: running,
        conditions: [condition("Ready", running === app.spec.replicas, "ReplicasAvailable")],
      },
    };
  },
});

/** A manager on a model cluster, under a clock that the test moves. */
export class ModelRun {
  readonly clock = new ManualClock();
  readonly cluster = new ModelCluster(this.clock);
  readonly lines: LoggedLine[] = [];
  readonly log = recordingLogger(this.lines);
  manager: Manager;

  constructor(options: ManagerOptions = {}) {
    this.manager = this.another(options);
  }

  /** One more manager on the same cluster, as another replica or after a restart. */
  another(options: ManagerOptions = {}): Manager {
    return manager({
      client: this.cluster.client,
      cache: this.cluster.cache,
      clock: this.clock,
      random: seededRandom(7),
      log: this.log,
      tracing: noTracing,
      health: false,
      metrics: false,
      ...options,
    });
  }

  /** Puts the test's object there, or changes its spec. */
  put(spec: Parameters<typeof WebApp.make>[1] = {}, name = key.name): void {
    const before = this.cluster.get(WebApp, { ...key, name });
    const made = WebApp.make({ ...key, name }, spec);
    this.cluster.put(WebApp, { ...before, ...made, metadata: { ...before?.metadata, ...made.metadata } });
  }

  get app(): WebAppObject | undefined {
    return this.cluster.get(WebApp, key);
  }

  /** Lets all that is due happen. */
  settle(ms = 1_000): Promise<void> {
    return this.clock.advance(ms);
  }
}

/** A run of one controller with the test's object in place, settled. */
export async function running<K extends AnyKind>(
  what: Controller<K>,
  options: ManagerOptions = {},
): Promise<ModelRun> {
  const run = new ModelRun(options);
  run.manager.add(what);
  await run.manager.start();
  run.put();
  await run.settle();
  return run;
}

/** A controller of the test's kind. */
export function appController(options: ControllerOptions<typeof WebApp>): Controller<typeof WebApp> {
  return controller(WebApp, options);
}
