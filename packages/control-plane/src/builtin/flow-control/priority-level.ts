import type { JsonObject } from "../../json.ts";
import { hasAt, numberAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";

/** The name of the one priority level, and of the one schema, that nothing limits. */
export const exempt = "exempt";
const mostQueues = 10_000_000;
const queuingDefaults = { handSize: 8, queues: 64, queueLengthLimit: 50 };

export const priorityLevel: Strategy = {
  generation: true,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (hasAt(spec, "exempt"))
      fill(objectAt(spec, "exempt"), { nominalConcurrencyShares: 0, lendablePercent: 0 });
    if (!hasAt(spec, "limited")) return;
    const limited = objectAt(spec, "limited");
    fill(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
    const response = objectAt(limited, "limitResponse");
    if (!hasAt(response, "queuing")) return;
    const queuing = objectAt(response, "queuing");
    for (const [name, value] of Object.entries(queuingDefaults)) {
      if ((numberAt(queuing, name) ?? 0) === 0) queuing[name] = value;
    }
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => (subresource === "status" ? [] : specFaults(next).causes),
};

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const type = textAt(spec, "type");
  if ((type === "Exempt") !== (textAt(objectAt(object, "metadata"), "name") === exempt))
    faults.invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'");
  if (type === "Exempt") {
    if (hasAt(spec, "limited")) faults.forbidden("spec.limited", "must be nil if the type is not Limited");
  } else if (type === "Limited") {
    if (hasAt(spec, "exempt")) faults.forbidden("spec.exempt", "must be nil if the type is Limited");
    if (hasAt(spec, "limited")) checkLimited(faults, "spec.limited", objectAt(spec, "limited"));
    else faults.required("spec.limited", "must not be empty when type is Limited");
  } else faults.unsupported("spec.type", type, ["Exempt", "Limited"]);
  return faults;
}

function checkLimited(faults: Faults, at: string, limited: JsonObject): void {
  const shares = numberAt(limited, "nominalConcurrencyShares") ?? 0;
  if (shares < 0) faults.invalid(`${at}.nominalConcurrencyShares`, shares, "must be a non-negative integer");
  checkResponse(faults, `${at}.limitResponse`, objectAt(limited, "limitResponse"));
  const lendable = numberAt(limited, "lendablePercent") ?? 0;
  if (lendable < 0 || lendable > 100)
    faults.invalid(`${at}.lendablePercent`, lendable, "must be between 0 and 100, inclusive");
  const borrowing = numberAt(limited, "borrowingLimitPercent") ?? 0;
  if (borrowing < 0)
    faults.invalid(`${at}.borrowingLimitPercent`, borrowing, "if specified, must be a non-negative integer");
}

function checkResponse(faults: Faults, at: string, response: JsonObject): void {
  const type = textAt(response, "type");
  const path = `${at}.queuing`;
  if (type === "Reject") {
    if (hasAt(response, "queuing"))
      faults.forbidden(path, "must be nil if limited.limitResponse.type is not Limited");
  } else if (type === "Queue") {
    if (hasAt(response, "queuing")) checkQueuing(faults, path, objectAt(response, "queuing"));
    else faults.required(path, "must not be empty if limited.limitResponse.type is Limited");
  } else faults.unsupported(`${at}.type`, type, ["Queue", "Reject"]);
}

function checkQueuing(faults: Faults, at: string, queuing: JsonObject): void {
  const [length = 0, queues = 0, hand = 0] = ["queueLengthLimit", "queues", "handSize"].map((name) =>
    numberAt(queuing, name),
  );
  if (length <= 0) faults.invalid(`${at}.queueLengthLimit`, length, "must be positive");
  if (queues <= 0) faults.invalid(`${at}.queues`, queues, "must be positive");
  else if (queues > mostQueues)
    faults.invalid(`${at}.queues`, queues, `must not be greater than ${mostQueues}`);
  if (hand <= 0) faults.invalid(`${at}.handSize`, hand, "must be positive");
  else if (hand > queues)
    faults.invalid(`${at}.handSize`, hand, `should not be greater than queues (${queues})`);
}
