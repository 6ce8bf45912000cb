import { equal } from "../../json.ts";
import { hasAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { internal } from "../../validation/go-value.ts";
import { dnsSubdomain } from "../../validation/names.ts";
import { checkDriverName } from "../pod/volumes.ts";

export const volumeAttachment: Strategy = {
  unconditionalUpdate: false,
  returnsDeleted: true,
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => {
    const faults = new Faults();
    const spec = specOf(object);
    checkDriverName(faults, "spec.attacher", textAt(spec, "attacher"));
    const source = objectAt(spec, "source");
    const used = ["inlineVolumeSpec", "persistentVolumeName"].filter((part) => hasAt(source, part)).length;
    if (used === 0) {
      faults.required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    } else if (used > 1) {
      faults.forbidden(
        "spec.source",
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName",
      );
    }
    const node = textAt(spec, "nodeName");
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
