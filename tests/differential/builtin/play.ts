import { setTimeout as wait } from "node:timers/promises";
import { clone, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { stories } from "./requests/index.ts";
import type { Server, ServerResponse } from "./server.ts";
import type { Step, Story } from "./story.ts";

export interface Played {
  /** What was asked, for reading. */
  readonly request: { readonly method: string; readonly path: string; readonly body: Json };
  readonly answer: ServerResponse;
}

const contentTypes = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Plays a story on one server. */
export async function play(server: Server, story: Story, namespace: string): Promise<Played[]> {
  const played: Played[] = [];
  for (const [index, step] of story.steps.entries()) {
    if (!("settleMs" in step)) played.push(await playStep(server, story, step, index, namespace));
    else if (server.caches) await wait(step.settleMs);
  }
  return played;
}

async function playStep(
  server: Server,
  story: Story,
  step: Exclude<Step, { settleMs: number }>,
  index: number,
  namespace: string,
): Promise<Played> {
  const fill = <T extends Json>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll("{ns}", namespace)) as T;
  const at = fill(("at" in step && step.at) || story.at);
  const named = (name: string, sub?: string) => `${at}/${fill(name)}${sub === undefined ? "" : `/${sub}`}`;
  const send = async (
    method: string,
    path: string,
    body?: Json,
    type?: string,
    as?: string,
  ): Promise<Played> => {
    const url = method === "GET" || method === "DELETE" ? path : `${path}?fieldManager=test`;
    return {
      request: { method, path, body: body ?? null },
      answer: await server.send(method, url, body, type, as),
    };
  };
  if ("post" in step) return send("POST", at, withName(fill(step.post), index, story, namespace));
  if ("put" in step) return send("PUT", named(step.name, step.sub), fill(step.put));
  if ("patch" in step) {
    return send("PATCH", named(step.name, step.sub), fill(step.patch), contentTypes[step.type ?? "merge"]);
  }
  if ("edit" in step) {
    const { body } = await server.send("GET", named(step.name));
    const object = clone(body);
    step.edit(object);
    return send("PUT", named(step.name, step.sub), object);
  }
  if ("send" in step) {
    const [method, path, body, type] = step.send;
    const filled = body === undefined ? undefined : fill(body);
    return send(method, fill(path), filled, type && contentTypes[type], step.as && fill(step.as));
  }
  if ("get" in step) return send("GET", named(step.get));
  return send("DELETE", named(step.delete), step.body);
}

/** Objects that the story does not name are named after their place in it. */
function withName(object: JsonObject, index: number, story: Story, namespace: string): JsonObject {
  const metadata = (object.metadata ?? {}) as JsonObject;
  if (metadata.name !== undefined || metadata.generateName !== undefined) return object;
  const own = `${story.name.replaceAll(" ", "-")}-${index}`;
  const name = story.at.includes("{ns}") ? own : `${namespace}-${index}`;
  return { ...object, metadata: { ...metadata, name } };
}

/** Takes away what a run left on a server that has no controllers to do it. */
export async function cleanUp(server: Server, namespace: string): Promise<void> {
  const mine = (name: unknown) => String(name).includes(namespace);
  for (const collection of new Set(stories.map((story) => story.at).filter((at) => !at.includes("{ns}")))) {
    const { body } = await server.send("GET", collection);
    for (const { metadata } of (body.items ?? []) as { metadata: { name: string } }[]) {
      if (!mine(metadata.name)) continue;
      const path = `${collection}/${metadata.name}`;
      await server.send("PATCH", path, { metadata: { finalizers: null } }, contentTypes.merge);
      await server.send("DELETE", path);
    }
  }
  await server.send("DELETE", `/api/v1/namespaces/${namespace}/services`);
  await server.send("DELETE", `/api/v1/namespaces/${namespace}`);
}
