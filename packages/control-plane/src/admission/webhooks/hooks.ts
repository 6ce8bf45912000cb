import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import type { Store } from "../../storage/store.ts";
import { type MatchCriteria, readRules, texts } from "./rules.ts";

/** One webhook of a configuration, read once. */
export interface Hook {
  /** Tells webhooks of the same name apart. */
  readonly id: string;
  readonly name: string;
  readonly criteria: MatchCriteria;
  readonly conditions: readonly NamedCondition[];
  readonly ignoreFailures: boolean;
  readonly timeoutSeconds: number;
  readonly sideEffects: string;
  readonly reviewVersions: readonly string[];
  readonly reinvocable: boolean;
  readonly clientConfig: Json | undefined;
}

export interface NamedCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * All webhooks of a kind of configuration, in the order they are called: by configuration name,
 * then as listed.
 */
export class Hooks {
  readonly #store: Store;
  readonly #bucket: string;
  #known: readonly Hook[] | undefined;

  constructor(store: Store, plural: "mutatingwebhookconfigurations" | "validatingwebhookconfigurations") {
    this.#store = store;
    this.#bucket = `${plural}.admissionregistration.k8s.io`;
    store.subscribe(this.#bucket, () => {
      this.#known = undefined;
    });
  }

  list(): readonly Hook[] {
    this.#known ??= this.#store.list(this.#bucket).entries.flatMap(({ object }) => readConfiguration(object));
    return this.#known;
  }
}

function readConfiguration(configuration: JsonObject): Hook[] {
  const { webhooks, metadata } = configuration;
  const seen = new Map<string, number>();
  return (Array.isArray(webhooks) ? webhooks : []).filter(isObject).map((webhook) => {
    const name = textOf(webhook.name);
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return readHook(webhook, `${textOf((metadata as JsonObject).name)}/${name}/${count}`);
  });
}

function readHook(webhook: JsonObject, id: string): Hook {
  return {
    id,
    name: textOf(webhook.name),
    criteria: {
      rules: readRules(webhook.rules),
      excluded: [],
      equivalent: webhook.matchPolicy !== "Exact",
      namespaceSelector: webhook.namespaceSelector,
      objectSelector: webhook.objectSelector,
    },
    conditions: readConditions(webhook.matchConditions),
    ignoreFailures: webhook.failurePolicy === "Ignore",
    timeoutSeconds: typeof webhook.timeoutSeconds === "number" ? webhook.timeoutSeconds : 10,
    sideEffects: textOf(webhook.sideEffects),
    reviewVersions: texts(webhook.admissionReviewVersions),
    reinvocable: webhook.reinvocationPolicy === "IfNeeded",
    clientConfig: webhook.clientConfig,
  };
}

export function readConditions(list: Json | undefined): NamedCondition[] {
  return (Array.isArray(list) ? list : [])
    .filter(isObject)
    .map(({ name, expression }) => ({ name: textOf(name), expression: textOf(expression) }));
}
