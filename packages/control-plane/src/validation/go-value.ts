import type { Json, JsonObject } from "../json.ts";

/*
 * Some messages show a value as the real server holds it inside, where fields have no JSON names:
 * under their Go names, in the order they are declared, with null for what is absent.
 */

interface Shape {
  readonly [goName: string]: string | readonly [field: string, shape: Shape];
}

const capabilities: Shape = { Add: "add", Drop: "drop" };
const volumeSource: Shape = {
  PersistentVolumeName: "persistentVolumeName",
  InlineVolumeSpec: "inlineVolumeSpec",
};
const rollingUpdate: Shape = { MaxUnavailable: "maxUnavailable", MaxSurge: "maxSurge" };

const shapes = {
  SecurityContext: {
    Capabilities: ["capabilities", capabilities] as const,
    Privileged: "privileged",
    SELinuxOptions: "seLinuxOptions",
    WindowsOptions: "windowsOptions",
    RunAsUser: "runAsUser",
    RunAsGroup: "runAsGroup",
    RunAsNonRoot: "runAsNonRoot",
    ReadOnlyRootFilesystem: "readOnlyRootFilesystem",
    AllowPrivilegeEscalation: "allowPrivilegeEscalation",
    ProcMount: "procMount",
    SeccompProfile: "seccompProfile",
    AppArmorProfile: "appArmorProfile",
  },
  SeccompProfile: { Type: "type", LocalhostProfile: "localhostProfile" },
  UpdateStrategy: { Type: "type", RollingUpdate: ["rollingUpdate", rollingUpdate] as const },
  UpdateStrategyOnly: { Type: "type", RollingUpdate: "rollingUpdate" },
  StatefulRollingUpdate: { Partition: "partition", MaxUnavailable: "maxUnavailable" },
  PodResourceClaim: {
    Name: "name",
    ResourceClaimName: "resourceClaimName",
    ResourceClaimTemplateName: "resourceClaimTemplateName",
  },
  VolumeAttachmentSpec: {
    Attacher: "attacher",
    Source: ["source", volumeSource] as const,
    NodeName: "nodeName",
  },
  RoleRef: { APIGroup: "apiGroup", Kind: "kind", Name: "name" },
} satisfies { readonly [type: string]: Shape };

/** The value as the real server would print its own type. */
export function internal(type: keyof typeof shapes, value: JsonObject): Json {
  return show(shapes[type], value);
}

function show(shape: Shape, value: Json | undefined): Json {
  if (value === undefined || value === null) return null;
  const written: JsonObject = {};
  for (const [name, from] of Object.entries(shape)) {
    const [field, inner] = typeof from === "string" ? [from, undefined] : from;
    const held = (value as JsonObject)[field];
    written[name] = inner ? show(inner, held) : (held ?? null);
  }
  return written;
}
