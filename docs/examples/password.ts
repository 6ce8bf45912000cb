import { randomBytes } from "node:crypto";
import {
  child,
  controller,
  declaration,
  defineResource,
  duration,
  type FinalizeOf,
  ignoreNotFound,
  metadataOnly,
  milliseconds,
  type ReconcileOf,
  timestamp,
} from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Password = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Password",
  spec: z.object({
    rotateEvery: duration().default("24h"),
    copyTo: z.string().optional().describe("A namespace that has a copy of the Secret"),
  }),
  status: z.object({ rotated: z.iso.datetime().optional() }),
});

const rotatedAt = "example.com/rotated-at";

/** Of Secrets only the metadata is held in memory: nobody needs the passwords here. */
const declared = declaration(Password, { owns: [{ kind: Secret, metadataOnly: true }] });

const reconcile = (async (password, { owned, client, clock, log }) => {
  const { metadata, spec } = password;
  const { namespace, name } = metadata;
  const old = owned(metadataOnly(Secret), name)?.metadata.annotations?.[rotatedAt];
  const wait = milliseconds(spec.rotateEvery, "spec.rotateEvery");
  const left = old === undefined ? 0 : Date.parse(old) + wait - clock.now();
  // Without `children`, those that are there stay as they are.
  if (left > 0) return { requeueAfter: left, status: { rotated: old } };

  const rotated = timestamp(clock.now());
  const annotations = { [rotatedAt]: rotated };
  const stringData = { password: randomBytes(16).toString("hex") };
  log.info({ rotated }, "rotating the password");
  if (spec.copyTo !== undefined)
    await client.apply(Secret, { metadata: { namespace: spec.copyTo, name, annotations }, stringData });
  return {
    children: [child(Secret, { metadata: { namespace, name, annotations }, stringData })],
    requeueAfter: spec.rotateEvery,
    status: { rotated },
  };
}) satisfies ReconcileOf<typeof declared>;

/** The copy is in another namespace, where Kubernetes does not collect it. */
const finalize = (async ({ metadata, spec }, context) => {
  if (spec.copyTo === undefined) return;
  const key = { namespace: spec.copyTo, name: metadata.name };
  const copy = await ignoreNotFound(context.live.get(metadataOnly(Secret), key));
  if (copy) await context.delete(Secret, { metadata: copy.metadata });
}) satisfies FinalizeOf<typeof declared>;

export const password = controller(Password, {
  ...declared,
  permissions: [{ kind: Secret, verbs: ["get", "create", "patch", "delete"] }],
  reconcile,
  finalize,
});
