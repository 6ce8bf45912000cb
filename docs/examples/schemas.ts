import { cel, defineResource, listMap } from "@windlass/runtime";
import {
  builtin,
  container,
  envVar,
  labelSelector,
  objectReference,
  podSpec,
  podTemplateSpec,
  resourceRequirements,
} from "@windlass/runtime/schemas";
import { z } from "zod";

/** Fields made of Kubernetes' own types, each in another way. */
export const Fleet = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Fleet",
  spec: z.object({
    template: podTemplateSpec(),
    selector: labelSelector().optional(),
    resources: resourceRequirements().default({ requests: { cpu: "100m" } }),
    hosts: z.array(builtin("corev1.HostAlias")).check(listMap("ip")).optional(),
  }),
});

/** What a user may change of a container that the operator makes. */
export const overrides = container()
  .pick({ image: true, resources: true, securityContext: true })
  .extend({ tier: z.enum(["gold", "silver"]).default("silver") });

export const target = objectReference().pick({ kind: true, name: true }).required();

const containers = z
  .array(container().extend({ env: z.array(envVar()).max(64).check(listMap("name")).optional() }))
  .max(16)
  .check(listMap("name"));

export const bounded = podSpec()
  .extend({ containers })
  .check(cel("self.containers.all(c, !has(c.env) || c.env.all(e, e.name != 'PORT'))", "PORT is reserved"));
