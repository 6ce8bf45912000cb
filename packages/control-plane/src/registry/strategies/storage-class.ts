import { equal, type JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";
import { Faults, immutable } from "./faults.ts";
import { child, has, items, metadataOf, number, own, pairs, specOf, text, texts } from "./fields.ts";
import { ensure, fill } from "./fill.ts";
import { internal } from "./go-value.ts";
import { dnsSubdomain, labelText, qualifiedName } from "./names.ts";
import { checkDriverName } from "./volumes.ts";

export const storageClass: Strategy = {
  returnsDeleted: true,
  setDefaults: (object) => fill(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  validate: (object) => classFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = classFaults(next);
    for (const part of ["parameters", "provisioner", "reclaimPolicy"]) {
      if (!equal(own(next, part) ?? null, own(live, part) ?? null)) {
        faults.forbidden(part, `updates to ${part} are forbidden.`);
      }
    }
    if (text(next, "volumeBindingMode") !== text(live, "volumeBindingMode")) {
      faults.invalid("volumeBindingMode", text(next, "volumeBindingMode"), immutable);
    }
    return faults.causes;
  },
};

function classFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const provisioner = text(object, "provisioner");
  if (provisioner === "") faults.required("provisioner");
  else faults.each("provisioner", provisioner, qualifiedName(provisioner.toLowerCase()));
  for (const [key] of pairs(object, "parameters")) {
    if (key === "") faults.invalid("parameters", key, "field can not be empty.");
  }
  if (has(object, "reclaimPolicy")) {
    faults.oneOf("reclaimPolicy", text(object, "reclaimPolicy"), ["Delete", "Retain"]);
  }
  if (has(object, "volumeBindingMode")) {
    faults.oneOf("volumeBindingMode", text(object, "volumeBindingMode"), [
      "Immediate",
      "WaitForFirstConsumer",
    ]);
  } else faults.required("volumeBindingMode");
  for (const [index, topology] of items(object, "allowedTopologies").entries()) {
    for (const [place, expression] of items(topology, "matchLabelExpressions").entries()) {
      checkTopology(faults, `allowedTopologies[${index}].matchLabelExpressions[${place}]`, expression);
    }
  }
  return faults;
}

function checkTopology(faults: Faults, at: string, expression: JsonObject): void {
  const values = texts(expression, "values");
  if (values.length === 0) faults.required(`${at}.values`);
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) < index) faults.duplicate(`${at}.values[${index}]`, value);
    faults.each(`${at}.values[${index}]`, value, labelText(value));
  }
  const key = text(expression, "key");
  faults.each(`${at}.key`, key, qualifiedName(key));
}

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
    if (texts(specOf(object), "volumeLifecycleModes").length === 0) {
      specOf(object).volumeLifecycleModes = ["Persistent"];
    }
  },
  prepareUpdate: (next, live) => {
    if (equal(next.spec, live.spec)) return;
    // Counted from the first change on, and not before.
    metadataOf(next).generation = (number(metadataOf(live), "generation") ?? 0) + 1;
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
  faults.oneOf("spec.fsGroupPolicy", text(spec, "fsGroupPolicy"), [
    "File",
    "None",
    "ReadWriteOnceWithFSType",
  ]);
  const audiences = new Set<string>();
  for (const [index, request] of items(spec, "tokenRequests").entries()) {
    const audience = text(request, "audience");
    if (audiences.has(audience)) {
      faults.duplicate(`spec.tokenRequests[${index}].audience`, audience);
      continue;
    }
    audiences.add(audience);
    const seconds = own(request, "expirationSeconds");
    if (typeof seconds === "number" && seconds < 600) {
      faults.invalid(
        `spec.tokenRequests[${index}].expirationSeconds`,
        seconds,
        "may not specify a duration less than 10 minutes",
      );
    }
  }
  for (const mode of texts(spec, "volumeLifecycleModes")) {
    faults.oneOf("spec.volumeLifecycleModes", mode, ["Persistent", "Ephemeral"]);
  }
  return faults;
}

export const volumeAttachment: Strategy = {
  unconditionalUpdate: false,
  returnsDeleted: true,
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => {
    const faults = new Faults();
    const spec = specOf(object);
    checkDriverName(faults, "spec.attacher", text(spec, "attacher"));
    const source = child(spec, "source");
    const used = ["inlineVolumeSpec", "persistentVolumeName"].filter((part) => has(source, part)).length;
    if (used === 0) {
      faults.required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    } else if (used > 1) {
      faults.forbidden(
        "spec.source",
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName",
      );
    }
    const node = text(spec, "nodeName");
    faults.each("spec.nodeName", node, dnsSubdomain(node));
    return faults.causes;
  },
  validateUpdate: (next, live, { subresource }) => {
    const faults = new Faults();
    if (subresource !== "status" && !equal(next.spec, live.spec)) {
      faults.invalid("spec", internal("VolumeAttachmentSpec", specOf(next)), immutable);
    }
    return faults.causes;
  },
};
