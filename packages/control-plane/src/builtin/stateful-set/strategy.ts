import { equal, type JsonObject } from "../../json.ts";
import {
  field,
  hasAt,
  itemsAt,
  metadataOf,
  numberAt,
  objectAt,
  specOf,
  statusOf,
  textAt,
} from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { Faults } from "../../validation/faults.ts";
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
  delete objectAt(objectAt(specOf(object), "updateStrategy"), "rollingUpdate").maxUnavailable;
}

export const statefulSet: Strategy = {
  generation: true,
  podTemplate: (object) => field(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (textAt(spec, "podManagementPolicy") === "") spec.podManagementPolicy = "OrderedReady";
    const strategy = ensure(spec, "updateStrategy");
    if (textAt(strategy, "type") === "") strategy.type = "RollingUpdate";
    if (strategy.type === "RollingUpdate") fill(ensure(strategy, "rollingUpdate"), { partition: 0 });
    fill(spec, { replicas: 1, revisionHistoryLimit: 10 });
    const retention = ensure(spec, "persistentVolumeClaimRetentionPolicy");
    for (const part of ["whenDeleted", "whenScaled"])
      if (textAt(retention, part) === "") retention[part] = "Retain";
    for (const claim of itemsAt(spec, "volumeClaimTemplates")) {
      claim.kind = "PersistentVolumeClaim";
      claim.apiVersion = "v1";
      fill(ensure(claim, "spec"), { volumeMode: "Filesystem" });
      const status = ensure(claim, "status");
      if (textAt(status, "phase") === "") status.phase = "Pending";
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
    if ((numberAt(specOf(object), "revisionHistoryLimit") ?? 0) < 0) {
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
  const available = numberAt(status, "availableReplicas") ?? 0;
  const ready = numberAt(status, "readyReplicas") ?? 0;
  if (available > ready && available <= (numberAt(status, "replicas") ?? 0)) {
    faults.invalid("status.availableReplicas", available, "cannot be greater than status.readyReplicas");
  }
  checkCollisions(faults, next, live);
  return faults;
}

function* specFaults(object: JsonObject, operation: "create" | "update"): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  const management = textAt(spec, "podManagementPolicy");
  if (management === "") faults.required("spec.podManagementPolicy");
  else if (management !== "OrderedReady" && management !== "Parallel") {
    faults.invalid("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'");
  }
  checkUpdateStrategy(faults, objectAt(spec, "updateStrategy"));
  const retention = objectAt(spec, "persistentVolumeClaimRetentionPolicy");
  for (const part of ["whenDeleted", "whenScaled"]) {
    faults.oneOf(`spec.persistentVolumeClaimRetentionPolicy.${part}`, textAt(retention, part), retentions);
  }
  faults.atLeast("spec.replicas", field(spec, "replicas"));
  faults.atLeast("spec.minReadySeconds", field(spec, "minReadySeconds"));
  faults.atLeast("spec.ordinals.start", field(objectAt(spec, "ordinals"), "start"));
  const service = textAt(spec, "serviceName");
  if (operation === "create" && service !== "") faults.each("spec.serviceName", service, dnsLabel(service));
  const claims = itemsAt(spec, "volumeClaimTemplates");
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
  const names = claims.map((claim) => textAt(metadataOf(claim), "name"));
  const template = objectAt(spec, "template");
  const pod = specOf(template);
  const replaced = new Set(names);
  const others = itemsAt(pod, "volumes").filter((volume) => !replaced.has(textAt(volume, "name")));
  const claimed = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...spec, template: { ...template, spec: { ...pod, volumes: [...claimed, ...others] } } };
}

function checkUpdateStrategy(faults: Faults, strategy: JsonObject): void {
  const type = textAt(strategy, "type");
  const at = "spec.updateStrategy";
  if (type === "") faults.required(at);
  else if (type === "OnDelete") {
    if (hasAt(strategy, "rollingUpdate")) {
      faults.invalid(
        `${at}.rollingUpdate`,
        internal("StatefulRollingUpdate", objectAt(strategy, "rollingUpdate")),
        "only allowed for updateStrategy 'RollingUpdate'",
      );
    }
  } else if (type === "RollingUpdate") {
    const rolling = objectAt(strategy, "rollingUpdate");
    faults.atLeast(`${at}.rollingUpdate.partition`, field(rolling, "partition"));
  } else {
    faults.invalid(at, internal("UpdateStrategyOnly", strategy), "must be 'RollingUpdate' or 'OnDelete'");
  }
}
