/**
 * Every module that is loaded when it is first needed, so that importing the runtime stays cheap.
 */
const lazy: readonly (() => Promise<unknown>)[] = [
  () => import("./logging/pino-logger.ts"),
  () => import("./webhook/file-keeper.ts"),
  () => import("./webhook/listen.ts"),
  () => import("./webhook/self-managed-keeper.ts"),
  () => import("./webhook/trust-target.ts"),
  () => import("./webhook/trust.ts"),
  () => import("@opentelemetry/api"),
  () => import("node:http"),
  () => import("node:worker_threads"),
  () => import("pino"),
];

/**
 * Loads at once what is otherwise loaded when first needed. A simulation begins with it: how long a
 * file takes to load must not decide the order of what happens. Programs have no need of it.
 */
export async function preload(): Promise<void> {
  await Promise.all(lazy.map((load) => load()));
}
