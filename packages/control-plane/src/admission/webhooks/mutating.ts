import { equal, isLarge, isObject, type Json, type JsonObject } from "../../json.ts";
import { DecodeError } from "../../kinds/index.ts";
import type { Admission, AdmissionRequest } from "../../registry/admission.ts";
import { ParseError } from "../../schema/parse-json.ts";
import { internalError, StatusError, UndecodableError } from "../../status.ts";
import { finish, nextTurn } from "../../steps.ts";
import { askHook, denied, HookFailure, matchHook, type WebhookDependencies } from "./caller.ts";
import { type Hook, Hooks } from "./hooks.ts";
import { patched, readPatch } from "./patch.ts";
import type { ReviewedObjects } from "./review.ts";
import { isExempt, type Match } from "./rules.ts";
import { shownAs, takeBack } from "./versions.ts";

/**
 * Asks mutating webhooks one after the other, each about what the one before made of the object.
 * When one has changed it, the plugins before this one run again, and so do the webhooks that ask
 * for it and were called earlier: once.
 */
export function mutatingWebhooks(deps: WebhookDependencies): Admission {
  const hooks = new Hooks(deps.registry.store, "mutatingwebhookconfigurations");
  const plugin: Admission = {
    name: "MutatingAdmissionWebhook",
    mutate: (request) => {
      const all = hooks.list();
      if (all.length === 0 || isExempt(request)) return;
      return mutate(deps, all, request, plugin);
    },
    // Deletions have nothing to mutate, but mutating webhooks are called for them too.
    validate: (request) => {
      const all = hooks.list();
      if (all.length === 0 || request.operation !== "DELETE" || isExempt(request)) return;
      return mutate(deps, all, request, plugin);
    },
  };
  return plugin;
}

async function mutate(
  deps: WebhookDependencies,
  hooks: readonly Hook[],
  request: AdmissionRequest,
  self: Admission,
): Promise<void> {
  const round = new Round(deps, request);
  for (const hook of hooks) await round.call(hook);
  if (!round.changed) return;
  const seen = request.object;
  for (const plugin of deps.registry.admission) {
    if (plugin === self) break;
    const waiting = plugin.mutate?.(request);
    if (waiting) await waiting;
  }
  const again = equal(seen, request.object) ? round.toRepeat : round.everyReinvocable;
  for (const hook of hooks) if (again.has(hook.id)) await round.call(hook);
}

/** One request's way through the webhooks. */
class Round {
  readonly #deps: WebhookDependencies;
  readonly #request: AdmissionRequest;
  /** Called so far, wanting to be called again should anything change after them. */
  readonly #waiting = new Set<string>();
  /** Of these, the ones after which something did. */
  readonly toRepeat = new Set<string>();
  changed = false;

  constructor(deps: WebhookDependencies, request: AdmissionRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  get everyReinvocable(): ReadonlySet<string> {
    return new Set([...this.toRepeat, ...this.#waiting]);
  }

  async call(hook: Hook): Promise<void> {
    const matching = matchHook(this.#deps, hook, this.#request);
    const match = matching instanceof Promise ? await matching : matching;
    if (!match) return;
    try {
      if (await this.#ask(hook, match)) {
        this.changed = true;
        for (const id of this.#waiting) this.toRepeat.add(id);
        this.#waiting.clear();
      }
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      if (!hook.ignoreFailures) throw error.status;
    }
    if (hook.reinvocable) this.#waiting.add(hook.id);
  }

  /** @returns whether the object is another one now */
  async #ask(hook: Hook, match: Match): Promise<boolean> {
    const request = this.#request;
    const shown = withoutStamps(request, await shownAs(request, match));
    const pause = isLarge(shown.object ?? null) ? nextTurn : () => undefined;
    await pause();
    const verdict = await askHook(this.#deps, hook, request, match, shown, "mutating");
    await pause();
    if (!verdict.allowed) throw denied(hook, verdict);
    if (verdict.patch === undefined) return false;
    const operations = await operationsOf(hook, verdict.patch);
    if (operations.length === 0) return false;
    if (shown.object === undefined) {
      throw internalError(
        `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    }
    if (verdict.patchType !== "JSONPatch") {
      throw new HookFailure(hook.name, `unsupported patch type ${JSON.stringify(verdict.patchType)}`);
    }
    const before = request.object as JsonObject;
    await pause();
    const changed = await finish(patched(shown.object, operations));
    await pause();
    await this.#take(match, changed);
    await pause();
    restoreStamps(request, before);
    return !equal(before, request.object);
  }

  async #take(match: Match, changed: JsonObject): Promise<void> {
    try {
      await takeBack(this.#request, match, changed);
    } catch (error) {
      if (!(error instanceof DecodeError || error instanceof StatusError)) throw error;
      throw internalError(error instanceof UndecodableError ? error.fault.message : error.message);
    }
  }
}

/** Set by the server on new objects, after mutating webhooks ran. */
const stamps = ["uid", "creationTimestamp", "generation"] as const;

function withoutStamps({ operation }: AdmissionRequest, shown: ReviewedObjects): ReviewedObjects {
  const metadata = shown.object?.metadata;
  if (operation === "CREATE" && isObject(metadata)) for (const stamp of stamps) delete metadata[stamp];
  return shown;
}

function restoreStamps({ operation, object }: AdmissionRequest, before: JsonObject): void {
  if (operation !== "CREATE" || !isObject(object?.metadata) || !isObject(before.metadata)) return;
  for (const stamp of stamps) {
    const value = before.metadata[stamp];
    if (value !== undefined) object.metadata[stamp] = value;
  }
}

async function operationsOf(hook: Hook, patch: string): Promise<Json[]> {
  try {
    return await finish(readPatch(patch));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new HookFailure(hook.name, `received undecodable patch in webhook response: ${error.message}`);
  }
}
