import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { child, has, number, specOf, text } from "../../validation/fields.ts";
import { ensure, fill } from "../../validation/fill.ts";

/** The name of the one priority level, and of the one schema, that nothing limits. */
export const exempt = "exempt";
const mostQueues = 10_000_000;
const queuingDefaults = { handSize: 8, queues: 64, queueLengthLimit: 50 };

export const priorityLevel: Strategy = {
  generation: true,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (has(spec, "exempt")) fill(child(spec, "exempt"), { nominalConcurrencyShares: 0, lendablePercent: 0 });
    if (!has(spec, "limited")) return;
    const limited = child(spec, "limited");
    fill(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
    const response = child(limited, "limitResponse");
    if (!has(response, "queuing")) return;
    const queuing = child(response, "queuing");
    for (const [name, value] of Object.entries(queuingDefaults)) {
      if ((number(queuing, name) ?? 0) === 0) queuing[name] = value;
    }
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => (subresource === "status" ? [] : specFaults(next).causes),
};

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const type = text(spec, "type");
  if ((type === "Exempt") !== (text(child(object, "metadata"), "name") === exempt))
    faults.invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'");
  if (type === "Exempt") {
    if (has(spec, "limited")) faults.forbidden("spec.limited", "must be nil if the type is not Limited");
  } else if (type === "Limited") {
    if (has(spec, "exempt")) faults.forbidden("spec.exempt", "must be nil if the type is Limited");
    if (has(spec, "limited")) checkLimited(faults, "spec.limited", child(spec, "limited"));
    else faults.required("spec.limited", "must not be empty when type is Limited");
  } else faults.unsupported("spec.type", type, ["Exempt", "Limited"]);
  return faults;
}

function checkLimited(faults: Faults, at: string, limited: JsonObject): void {
  const shares = number(limited, "nominalConcurrencyShares") ?? 0;
  if (shares < 0) faults.invalid(`${at}.nominalConcurrencyShares`, shares, "must be a non-negative integer");
  checkResponse(faults, `${at}.limitResponse`, child(limited, "limitResponse"));
  const lendable = number(limited, "lendablePercent") ?? 0;
  if (lendable < 0 || lendable > 100)
    faults.invalid(`${at}.lendablePercent`, lendable, "must be between 0 and 100, inclusive");
  const borrowing = number(limited, "borrowingLimitPercent") ?? 0;
  if (borrowing < 0)
    faults.invalid(`${at}.borrowingLimitPercent`, borrowing, "if specified, must be a non-negative integer");
}

function checkResponse(faults: Faults, at: string, response: JsonObject): void {
  const type = text(response, "type");
  const path = `${at}.queuing`;
  if (type === "Reject") {
    if (has(response, "queuing"))
      faults.forbidden(path, "must be nil if limited.limitResponse.type is not Limited");
  } else if (type === "Queue") {
    if (has(response, "queuing")) checkQueuing(faults, path, child(response, "queuing"));
    else faults.required(path, "must not be empty if limited.limitResponse.type is Limited");
  } else faults.unsupported(`${at}.type`, type, ["Queue", "Reject"]);
}

function checkQueuing(faults: Faults, at: string, queuing: JsonObject): void {
  const [length = 0, queues = 0, hand = 0] = ["queueLengthLimit", "queues", "handSize"].map((name) =>
    number(queuing, name),
  );
  if (length <= 0) faults.invalid(`${at}.queueLengthLimit`, length, "must be positive");
  if (queues <= 0) faults.invalid(`${at}.queues`, queues, "must be positive");
  else if (queues > mostQueues)
    faults.invalid(`${at}.queues`, queues, `must not be greater than ${mostQueues}`);
  if (hand <= 0) faults.invalid(`${at}.handSize`, hand, "must be positive");
  else if (hand > queues)
    faults.invalid(`${at}.handSize`, hand, `should not be greater than queues (${queues})`);
}
