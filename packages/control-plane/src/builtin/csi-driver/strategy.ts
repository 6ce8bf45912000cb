import { equal, type JsonObject } from "../../json.ts";
import { field, itemsAt, metadataOf, numberAt, specOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";

export const csiDriver: Strategy = {
  unconditionalUpdate: false,
  returnsDeleted: true,
  setDefaults: (object) => {
    fill(ensure(object, "spec"), {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      requiresRepublish: false,
      seLinuxMount: false,
    });
    if (textsAt(specOf(object), "volumeLifecycleModes").length === 0) {
      specOf(object).volumeLifecycleModes = ["Persistent"];
    }
  },
  prepareUpdate: (next, live) => {
    if (equal(next.spec, live.spec)) return;
    // Counted from the first change on, and not before.
    metadataOf(next).generation = (numberAt(metadataOf(live), "generation") ?? 0) + 1;
  },
  validate: (object) => driverFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = driverFaults(next);
    const [now, before] = [specOf(next), specOf(live)];
    if (now.attachRequired !== before.attachRequired) {
      faults.invalid("spec.attachedRequired", now.attachRequired, immutable);
    }
    if (!equal(now.volumeLifecycleModes, before.volumeLifecycleModes)) {
      faults.invalid("spec.volumeLifecycleModes", now.volumeLifecycleModes, immutable);
    }
    return faults.causes;
  },
};

function driverFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  faults.oneOf("spec.fsGroupPolicy", textAt(spec, "fsGroupPolicy"), [
    "File",
    "None",
    "ReadWriteOnceWithFSType",
  ]);
  const audiences = new Set<string>();
  for (const [index, request] of itemsAt(spec, "tokenRequests").entries()) {
    const audience = textAt(request, "audience");
    if (audiences.has(audience)) {
      faults.duplicate(`spec.tokenRequests[${index}].audience`, audience);
      continue;
    }
    audiences.add(audience);
    const seconds = field(request, "expirationSeconds");
    if (typeof seconds === "number" && seconds < 600) {
      faults.invalid(
        `spec.tokenRequests[${index}].expirationSeconds`,
        seconds,
        "may not specify a duration less than 10 minutes",
      );
    }
  }
  for (const mode of textsAt(spec, "volumeLifecycleModes")) {
    faults.oneOf("spec.volumeLifecycleModes", mode, ["Persistent", "Ephemeral"]);
  }
  return faults;
}
