import {
  BOOL,
  DYN,
  INT,
  listOf,
  mapOf,
  type ObjectType,
  STRING,
  TIMESTAMP,
  type Type,
} from "../../cel/types.ts";

function object(name: string, fields: { readonly [name: string]: Type }): ObjectType {
  return { kind: "object", name, fields: new Map(Object.entries(fields)) };
}

const KIND = object("kubernetes.GroupVersionKind", { group: STRING, version: STRING, kind: STRING });
const RESOURCE = object("kubernetes.GroupVersionResource", {
  group: STRING,
  version: STRING,
  resource: STRING,
});
const USER = object("kubernetes.UserInfo", {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

/** `request`, as expressions may use it. */
export const REQUEST = object("kubernetes.AdmissionRequest", {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

/** `namespaceObject`: the parts of a Namespace that expressions may use. */
export const NAMESPACE = object("kubernetes.Namespace", {
  metadata: object("kubernetes.NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: object("kubernetes.NamespaceSpec", { finalizers: listOf(STRING) }),
  status: object("kubernetes.NamespaceStatus", {
    conditions: listOf(
      object("kubernetes.NamespaceCondition", {
        status: STRING,
        type: STRING,
        lastTransitionTime: TIMESTAMP,
        message: STRING,
        reason: STRING,
      }),
    ),
    phase: STRING,
  }),
});
