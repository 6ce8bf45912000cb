import { cel, defineResource, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import {
  common,
  componentColumns,
  componentName,
  componentStatus,
  escapeHatches,
  filled,
  hostName,
  ingress,
  membership,
  oneHatch,
  pods,
  serviceType,
} from "../fields.ts";

/** What a BuildbarnBrowser, or the browser of a BuildbarnCluster, may set. */
export const browserFields = {
  ...pods,
  replicas: z.int32().min(0).max(1_000).default(3),
  ...escapeHatches,
  serviceType: serviceType.default("ClusterIP"),
  ingressHost: hostName
    .exactOptional()
    .describe("Makes an Ingress for this host. Links to actions lead there"),
  ingress: ingress.apply(filled),
};

/** What the browser of a BuildbarnCluster may set. */
export const browserFieldsOfCluster = {
  ...browserFields,
  replicas: z
    .int32()
    .min(0)
    .max(1_000)
    .exactOptional()
    .describe("Pods. Default: 3, which kubectl scale, HPA and KEDA may change on the BuildbarnBrowser"),
};

/** Why a browser of a release that no image is known of must name one. */
export const noBrowserImage = "must be set: no image of bb_browser is known to fit version 2025-02";

/** Shows actions and their files. */
export const BuildbarnBrowser = defineResource({
  ...common,
  kind: "BuildbarnBrowser",
  shortNames: ["bbb"],
  description: "The web page of a Buildbarn set, which shows actions and their files",
  spec: z
    .object({ ...membership, ...browserFields })
    .check(
      oneHatch,
      cel("self.version != '2025-02' || has(self.image)", {
        message: noBrowserImage,
        fieldPath: ".image",
      }),
    )
    .apply(filled),
  status: z.object({
    ...componentStatus,
    url: z.string().optional().describe("Where the page is"),
  }),
  scale: { labelSelectorPath: ".status.selector" },
  validations: [componentName],
  printerColumns: [
    ...componentColumns.slice(0, 3),
    { name: "URL", jsonPath: ".status.url" },
    ...componentColumns.slice(3),
  ],
});

/** A browser, as it is read. */
export type Browser = ObjectOf<typeof BuildbarnBrowser>;
