import { isObject, type JsonObject, textOf } from "../../../packages/control-plane/src/json.ts";
import { valueAt } from "../../../packages/control-plane/src/json-fields.ts";
import type { Sending, Server, ServerResponse } from "../servers.ts";

/**
 * Requests in order. `{ns}` in a path or body is the namespace of the run, `{group}` the group of
 * its custom kind; `{rv NAME}`, `{oldrv NAME}` and `{uid NAME}` are what the same server said last,
 * or first, of the object of that name; `{continue}` is the token it gave last, and `{start}` its
 * revision before the first request.
 */
export interface Sequence {
  readonly name: string;
  readonly steps: readonly Sending[];
}

/** Plays a sequence on one server. */
export async function play(
  server: Server,
  sequence: Sequence,
  names: { readonly ns: string; readonly group: string },
): Promise<ServerResponse[]> {
  const memory = new Memory(names);
  const start = await server.send({ method: "GET", path: "/api/v1/namespaces/default/configmaps?limit=1" });
  memory.set("start", textOf(valueAt(start.body as JsonObject, "metadata", "resourceVersion")));
  const answers: ServerResponse[] = [];
  for (const step of sequence.steps) {
    const answer = await server.send({
      ...step,
      path: memory.fill(step.path, encodeURIComponent),
      ...(step.body === undefined ? {} : { body: memory.fillBody(step.body) }),
    });
    memory.learn(answer.body);
    answers.push(answer);
  }
  return answers;
}

class Memory {
  readonly #values = new Map<string, string>();

  constructor({ ns, group }: { readonly ns: string; readonly group: string }) {
    this.set("ns", ns);
    this.set("group", group);
  }

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replace(/\{(ns|group|start|continue|(?:rv|oldrv|uid) [\w.-]+)\}/g, (_, name: string) =>
      encode(this.#values.get(name) ?? "unknown"),
    );
  }

  fillBody(body: unknown): unknown {
    if (body instanceof Uint8Array) return body;
    return typeof body === "string"
      ? this.fill(body)
      : (JSON.parse(this.fill(JSON.stringify(body))) as unknown);
  }

  learn(body: unknown): void {
    if (!isObject(body)) return;
    const { metadata } = body;
    if (!isObject(metadata)) return;
    const { name, uid, resourceVersion } = metadata;
    if (typeof metadata.continue === "string") this.set("continue", metadata.continue);
    if (typeof name !== "string") return;
    if (typeof uid === "string") this.set(`uid ${name}`, uid);
    if (typeof resourceVersion !== "string") return;
    this.set(`rv ${name}`, resourceVersion);
    if (!this.#values.has(`oldrv ${name}`)) this.set(`oldrv ${name}`, resourceVersion);
  }
}
