import type { Admission, AdmissionRequest } from "../../registry/admission.ts";
import { askHook, denied, HookFailure, matchHook, type WebhookDependencies } from "./caller.ts";
import { type Hook, Hooks } from "./hooks.ts";
import { isExempt, type Match } from "./rules.ts";
import { shownAs } from "./versions.ts";

/**
 * Asks every validating webhook that a request concerns, all at a time. The first no to arrive is
 * the one told.
 */
export function validatingWebhooks(deps: WebhookDependencies): Admission {
  const hooks = new Hooks(deps.registry.store, "validatingwebhookconfigurations");
  return {
    name: "ValidatingAdmissionWebhook",
    validate: (request) => {
      const all = hooks.list();
      if (all.length === 0 || isExempt(request)) return;
      return validate(deps, all, request);
    },
  };
}

async function validate(
  deps: WebhookDependencies,
  hooks: readonly Hook[],
  request: AdmissionRequest,
): Promise<void> {
  const concerned: { hook: Hook; match: Match }[] = [];
  for (const hook of hooks) {
    const matching = matchHook(deps, hook, request);
    const match = matching instanceof Promise ? await matching : matching;
    if (match) concerned.push({ hook, match });
  }
  const refusals: unknown[] = [];
  await Promise.all(
    concerned.map(async ({ hook, match }) => {
      try {
        const verdict = await askHook(
          deps,
          hook,
          request,
          match,
          await shownAs(request, match),
          "validating",
        );
        if (!verdict.allowed) refusals.push(denied(hook, verdict));
      } catch (error) {
        if (!(error instanceof HookFailure)) refusals.push(error);
        else if (!hook.ignoreFailures) refusals.push(error.status);
      }
    }),
  );
  if (refusals.length > 0) throw refusals[0];
}
