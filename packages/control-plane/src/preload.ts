/**
 * Every module that is loaded when it is first needed, so that an empty control plane starts fast.
 */
const lazy: readonly (() => Promise<unknown>)[] = [
  () => import("./admission/policy/conditions.ts"),
  () => import("./admission/policy/expressions.ts"),
  () => import("./admission/policy/evaluation.ts"),
  () => import("./admission/policy/type-check.ts"),
  () => import("./admission/webhooks/lenient-agent.ts"),
  () => import("./admission/webhooks/peer.ts"),
  () => import("./admission/webhooks/send.ts"),
  () => import("./cel/rule-compiler.ts"),
  () => import("./cel/rules.ts"),
  () => import("./http/eviction.ts"),
  () => import("./http/listener.ts"),
  () => import("./http/write.ts"),
  () => import("./node/start-nodes.ts"),
  () => import("./openapi/index.ts"),
  () => import("./patterns/re2.ts"),
  () => import("./patterns/worker-thread.ts"),
  () => import("./processes/index.ts"),
  () => import("./protobuf/index.ts"),
  () => import("./schema/parse-yaml.ts"),
  () => import("./storage/data-file.ts"),
  () => import("./streams/http-proxy.ts"),
  () => import("./streams/port-forward.ts"),
  () => import("./streams/remote-command.ts"),
  () => import("./table/index.ts"),
  () => import("jose"),
  () => import("js-yaml"),
  () => import("node:https"),
  () => import("node:tls"),
];

/** Loads them all. */
export async function preload(): Promise<void> {
  await Promise.all(lazy.map((load) => load()));
}
