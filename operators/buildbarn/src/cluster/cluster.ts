import { cel, defineResource, listMap, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { browserFieldsOfCluster, noBrowserImage } from "../browser/browser.ts";
import { common, filled, label, membership, oneHatch } from "../fields.ts";
import { frontendFieldsOfCluster, frontendRules } from "../frontend/frontend.ts";
import { schedulerFields } from "../scheduler/scheduler.ts";
import { storageFields, storageRules } from "../storage/storage.ts";
import { workerFieldsOfCluster } from "../worker/worker.ts";

/** A whole Buildbarn set in one resource. */
export const BuildbarnCluster = defineResource({
  ...common,
  kind: "BuildbarnCluster",
  shortNames: ["bbc"],
  description: "A whole Buildbarn set: storage, scheduler, frontend, workers and browser",
  spec: z
    .object({
      version: membership.version,
      storage: z
        .object(storageFields)
        .check(...storageRules)
        .apply(filled),
      scheduler: z.object(schedulerFields).check(oneHatch).apply(filled),
      frontend: z
        .object(frontendFieldsOfCluster)
        .check(...frontendRules)
        .apply(filled),
      browser: z.object(browserFieldsOfCluster).check(oneHatch).exactOptional().describe("Default: none"),
      workers: z
        .array(
          z
            .object({ name: label.max(20).describe("Added to the cluster's name"), ...workerFieldsOfCluster })
            .check(oneHatch),
        )
        .min(1)
        .max(32)
        .check(
          listMap("name"),
          cel("self.all(one, !(one.name in ['storage', 'scheduler', 'frontend', 'browser']))", {
            message: "storage, scheduler, frontend and browser are names of the set's other components",
          }),
        )
        .describe("One entry for each platform and size"),
    })
    .check(
      cel("self.storage.allowCacheFlush || self.version == oldSelf.version", {
        message: "releases place blobs differently: set storage.allowCacheFlush to change it",
        fieldPath: ".version",
      }),
      cel("self.version != '2025-02' || !has(self.browser) || has(self.browser.image)", {
        message: noBrowserImage,
        fieldPath: ".browser.image",
      }),
    ),
  status: z.object({
    endpoint: z.string().optional().describe("What to give Bazel as --remote_executor within the cluster"),
    components: z
      .array(z.object({ kind: z.string(), name: z.string(), ready: z.boolean() }))
      .optional()
      .describe("The resources that this one has made"),
  }),
  validations: [
    {
      rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,22}[a-z0-9])?$')",
      message: "metadata.name must begin with a letter and have at most 24 letters, digits and '-'",
    },
  ],
  printerColumns: [
    { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Endpoint", jsonPath: ".status.endpoint" },
    { name: "Version", jsonPath: ".spec.version", priority: 1 },
    { name: "Why", jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});

/** A set, as it is read. */
export type Cluster = ObjectOf<typeof BuildbarnCluster>;
