import { equal, type JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { Faults } from "../../validation/faults.ts";
import {
  child,
  has,
  items,
  metadataOf,
  number,
  own,
  specOf,
  statusOf,
  text,
} from "../../validation/fields.ts";
import { ensure, fill, put } from "../../validation/fill.ts";
import { internal } from "../../validation/go-value.ts";
import { dnsLabel } from "../../validation/names.ts";
import { prepareTemplate, warnOfTemplate } from "../deployment/strategy.ts";
import { checkClaimSpec } from "../persistent-volume-claim/spec.ts";
import {
  checkCollisions,
  checkCounts,
  checkScale,
  checkSelectedTemplate,
  templateDefaults,
} from "../pod/template.ts";

const counts = [
  "replicas",
  "readyReplicas",
  "currentReplicas",
  "updatedReplicas",
  "availableReplicas",
  "observedGeneration",
  "collisionCount",
];
const bounded = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
const mutable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const retentions = ["Retain", "Delete"];

/** An alpha feature, which is off. */
function dropMaxUnavailable(object: JsonObject): void {
  delete child(child(specOf(object), "updateStrategy"), "rollingUpdate").maxUnavailable;
}

export const statefulSet: Strategy = {
  generation: true,
  podTemplate: (object) => own(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (text(spec, "podManagementPolicy") === "") spec.podManagementPolicy = "OrderedReady";
    const strategy = ensure(spec, "updateStrategy");
    if (text(strategy, "type") === "") strategy.type = "RollingUpdate";
    if (strategy.type === "RollingUpdate") fill(ensure(strategy, "rollingUpdate"), { partition: 0 });
    fill(spec, { replicas: 1, revisionHistoryLimit: 10 });
    const retention = ensure(spec, "persistentVolumeClaimRetentionPolicy");
    for (const part of ["whenDeleted", "whenScaled"])
      if (text(retention, part) === "") retention[part] = "Retain";
    for (const claim of items(spec, "volumeClaimTemplates")) {
      claim.kind = "PersistentVolumeClaim";
      claim.apiVersion = "v1";
      fill(ensure(claim, "spec"), { volumeMode: "Filesystem" });
      const status = ensure(claim, "status");
      if (text(status, "phase") === "") status.phase = "Pending";
    }
    templateDefaults(spec);
  },
  prepareCreate: (object) => {
    dropMaxUnavailable(object);
    object.status = {};
    prepareTemplate(object);
  },
  prepareUpdate: (next) => dropMaxUnavailable(next),
  warn: (object, warn) => {
    warnOfTemplate(object, warn);
    if ((number(specOf(object), "revisionHistoryLimit") ?? 0) < 0) {
      warn(
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
      );
    }
  },
  validate: function* (object) {
    return (yield* specFaults(object, "create")).causes;
  },
  validateUpdate: function* (next, live, { subresource }) {
    if (subresource === "status") return statusFaults(next, live).causes;
    checkScale(next, subresource);
    const faults = yield* specFaults(next, "update");
    const frozen: JsonObject = { ...specOf(next) };
    for (const part of mutable) put(frozen, part, specOf(live)[part]);
    if (!equal(frozen, specOf(live))) {
      faults.forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      );
    }
    return faults.causes;
  },
};

function statusFaults(next: JsonObject, live: JsonObject): Faults {
  const faults = new Faults();
  checkCounts(faults, next, counts, bounded);
  const status = statusOf(next);
  const available = number(status, "availableReplicas") ?? 0;
  const ready = number(status, "readyReplicas") ?? 0;
  if (available > ready && available <= (number(status, "replicas") ?? 0)) {
    faults.invalid("status.availableReplicas", available, "cannot be greater than status.readyReplicas");
  }
  checkCollisions(faults, next, live);
  return faults;
}

function* specFaults(object: JsonObject, operation: "create" | "update"): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  const management = text(spec, "podManagementPolicy");
  if (management === "") faults.required("spec.podManagementPolicy");
  else if (management !== "OrderedReady" && management !== "Parallel") {
    faults.invalid("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'");
  }
  checkUpdateStrategy(faults, child(spec, "updateStrategy"));
  const retention = child(spec, "persistentVolumeClaimRetentionPolicy");
  for (const part of ["whenDeleted", "whenScaled"]) {
    faults.oneOf(`spec.persistentVolumeClaimRetentionPolicy.${part}`, text(retention, part), retentions);
  }
  faults.atLeast("spec.replicas", own(spec, "replicas"));
  faults.atLeast("spec.minReadySeconds", own(spec, "minReadySeconds"));
  faults.atLeast("spec.ordinals.start", own(child(spec, "ordinals"), "start"));
  const service = text(spec, "serviceName");
  if (operation === "create" && service !== "") faults.each("spec.serviceName", service, dnsLabel(service));
  const claims = items(spec, "volumeClaimTemplates");
  if (operation === "create") {
    for (const [index, claim] of claims.entries()) {
      checkClaimSpec(faults, `spec.volumeClaimTemplates[${index}].spec`, specOf(claim));
    }
  }
  yield* checkSelectedTemplate(faults, withClaims(spec, claims), {
    kind: "statefulset",
    deadlineOwner: "StatefulSet",
    required: true,
    unusable: "",
  });
  return faults;
}

/** The spec with its claims as volumes of the template, which mounts may refer to. */
function withClaims(spec: JsonObject, claims: readonly JsonObject[]): JsonObject {
  if (claims.length === 0) return spec;
  const names = claims.map((claim) => text(metadataOf(claim), "name"));
  const template = child(spec, "template");
  const pod = specOf(template);
  const replaced = new Set(names);
  const others = items(pod, "volumes").filter((volume) => !replaced.has(text(volume, "name")));
  const claimed = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...spec, template: { ...template, spec: { ...pod, volumes: [...claimed, ...others] } } };
}

function checkUpdateStrategy(faults: Faults, strategy: JsonObject): void {
  const type = text(strategy, "type");
  const at = "spec.updateStrategy";
  if (type === "") faults.required(at);
  else if (type === "OnDelete") {
    if (has(strategy, "rollingUpdate")) {
      faults.invalid(
        `${at}.rollingUpdate`,
        internal("StatefulRollingUpdate", child(strategy, "rollingUpdate")),
        "only allowed for updateStrategy 'RollingUpdate'",
      );
    }
  } else if (type === "RollingUpdate") {
    const rolling = child(strategy, "rollingUpdate");
    faults.atLeast(`${at}.rollingUpdate.partition`, own(rolling, "partition"));
  } else {
    faults.invalid(at, internal("UpdateStrategyOnly", strategy), "must be 'RollingUpdate' or 'OnDelete'");
  }
}
