/** Where CRDs are. */
export const definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A custom kind with most of what custom kinds can have. */
export const widgetDefinition = (group: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        selectableFields: [{ jsonPath: ".spec.color" }],
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer", minimum: 0, maximum: 100 },
                  replicas: { type: "integer", default: 1 },
                  color: { type: "string", enum: ["red", "green", "blue"] },
                  title: { type: "string", maxLength: 10, pattern: "^[a-z]*$" },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, count: { type: "integer", default: 2 } },
                    },
                  },
                  tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
                  extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: {
                type: "object",
                properties: { replicas: { type: "integer" }, phase: { type: "string" } },
              },
            },
          },
        },
      },
    ],
  },
});
