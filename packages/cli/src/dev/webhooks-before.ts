import { readFile, rm } from "node:fs/promises";
import { type AnyKind, type Client, ignoreNotFound, type KubernetesObject } from "@windlass/client";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import { writeWhole } from "../whole-file.ts";

/** What may lead an API server to webhooks, and the field that does. */
const leading = [
  { kind: ValidatingWebhookConfiguration, field: "webhooks" },
  { kind: MutatingWebhookConfiguration, field: "webhooks" },
] as const;

/** Where a cluster calls the webhooks of an operator that runs on this machine. */
export type CalledAt =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string } };

interface Record {
  /** Where the operator's webhooks were called meanwhile. */
  readonly meanwhile: CalledAt;
  /** By kind and name, what the field was; null for a definition that was not there. */
  readonly before: Readonly<{ [object: string]: unknown }>;
}

/**
 * Whom a cluster called before an operator on this machine had itself called: kept in a file, so
 * that it can be put back after a crash too. Without that the cluster would go on calling a machine
 * that no longer answers, and refuse every write.
 */
export class WebhooksBefore {
  readonly #client: Client;
  readonly #file: string;

  constructor(client: Client, file: string) {
    this.#client = client;
    this.#file = file;
  }

  /** Takes down whom the cluster calls now. What an earlier run left behind is put right first. */
  async record(meanwhile: CalledAt, definitions: readonly string[], signal: AbortSignal): Promise<void> {
    await this.restore();
    const before: { [object: string]: unknown } = {};
    for (const { kind, field } of leading)
      for (const object of (await this.#client.list(kind, { signal })).items)
        before[configurationId(kind, object.metadata.name)] = fieldOf(object, field);
    for (const name of definitions)
      before[configurationId(CustomResourceDefinition, name)] =
        (await this.#definition(name))?.spec.conversion ?? null;
    await writeWhole(this.#file, JSON.stringify({ meanwhile, before } satisfies Record));
  }

  /**
   * Has the cluster call again whom it called before.
   *
   * @returns what was changed for that, such as `ValidatingWebhookConfiguration shop`
   */
  async restore(): Promise<readonly string[]> {
    const record = await this.#read();
    if (record === undefined) return [];
    const changed: string[] = [];
    for (const { kind, field } of leading)
      for (const object of (await this.#client.list(kind)).items) {
        const { name } = object.metadata;
        if (!leadsTo(record.meanwhile, fieldOf(object, field))) continue;
        const earlier = record.before[configurationId(kind, name)];
        if (earlier === undefined) await this.#client.delete(kind, { name });
        else await this.#replace(kind, name, "/webhooks", earlier);
        changed.push(configurationId(kind, name));
      }
    for (const [id, earlier] of Object.entries(record.before)) {
      const name = nameIn(id, CustomResourceDefinition);
      if (name === undefined) continue;
      const definition = await this.#definition(name);
      if (!leadsTo(record.meanwhile, definition?.spec.conversion)) continue;
      const conversion = earlier ?? { strategy: "None" };
      await this.#replace(CustomResourceDefinition, name, "/spec/conversion", conversion);
      changed.push(id);
    }
    await rm(this.#file, { force: true });
    return changed;
  }

  async #replace(kind: AnyKind, name: string, path: string, value: unknown): Promise<void> {
    await this.#client.patch(kind, { name }, { type: "json", patch: [{ op: "replace", path, value }] });
  }

  async #definition(name: string) {
    return await ignoreNotFound(this.#client.get(CustomResourceDefinition, { name }));
  }

  async #read(): Promise<Record | undefined> {
    const text = await readFile(this.#file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    return text === undefined ? undefined : (JSON.parse(text) as Record);
  }
}

function configurationId({ kind }: AnyKind, name: string): string {
  return `${kind} ${name}`;
}

function nameIn(id: string, { kind }: AnyKind): string | undefined {
  return id.startsWith(`${kind} `) ? id.slice(kind.length + 1) : undefined;
}

function fieldOf(object: KubernetesObject, field: string): unknown {
  return (object as unknown as Readonly<{ [field: string]: unknown }>)[field];
}

/** Whether something in there is called at that place. */
function leadsTo(place: CalledAt, value: unknown): boolean {
  if (typeof value === "string") return "url" in place && value.startsWith(`${place.url}/`);
  if (typeof value !== "object" || value === null) return false;
  if ("service" in place && isService(value, place.service)) return true;
  return Object.values(value).some((part) => leadsTo(place, part));
}

function isService(
  value: object,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  return "namespace" in value && "name" in value && value.namespace === namespace && value.name === name;
}
