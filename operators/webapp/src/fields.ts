import { cel, listMap, quantity } from "@windlass/runtime";
import { z } from "zod";

const variableName = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const hostName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const amount = quantity().exactOptional();
const limits = z.object({ cpu: amount, memory: amount }).exactOptional();
const resources = z.object({ requests: limits, limits });
const reference = z.object({ name: z.string().min(1), key: z.string().min(1) }).exactOptional();
const oneSource = cel("has(self.secretKeyRef) != has(self.configMapKeyRef)", "must have one of the two");
const source = z.object({ secretKeyRef: reference, configMapKeyRef: reference }).check(oneSource);
const oneValue = cel("!has(self.value) || !has(self.valueFrom)", "cannot have both value and valueFrom");
const value = { value: z.string().exactOptional(), valueFrom: source.exactOptional() };
const variable = z.object({ name: z.string().max(128).regex(variableName), ...value }).check(oneValue);

/** A number of replicas. */
export const replicas = z.int32().min(0).max(1000);
/** A bound of autoscaling. */
export const bound = replicas.min(1);
/** A percentage. */
export const percentage = z.int32().min(1).max(100);
/** A host name. */
export const host = z.string().max(253).regex(hostName);

/** The part of a spec that is the same in every version. */
export const container = {
  image: z.string().min(1).max(512).describe("Container image to run"),
  port: z.int32().min(1).max(65535).default(80).describe("The port that the container listens on"),
  env: z.array(variable).max(64).check(listMap("name")).optional().describe("Environment variables"),
  resources: resources.optional().describe("What a pod asks for, and may use"),
};

/** All of a definition that is the same in every version. */
export const common = {
  group: "example.com",
  kind: "WebApp",
  shortNames: ["wa"],
  categories: ["all"],
  description: "A web application: an image, so many replicas, behind one Service",
  status: z.object({
    phase: z.enum(["Created", "Reconciling", "WaitingForPods", "Ready", "Scaling", "Deleting"]).optional(),
    replicas: z.int32().optional().describe("How many pods there are"),
    availableReplicas: z.int32().optional().describe("How many pods serve"),
    selector: z.string().optional().describe("Selects the pods, for autoscalers"),
    url: z.string().optional().describe("Where the app answers"),
  }),
  validations: [
    {
      rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",
      message: "metadata.name must begin with a letter and have at most 63 letters, digits and '-'",
    },
  ],
  printerColumns: [
    { name: "Phase", jsonPath: ".status.phase" },
    { name: "Available", jsonPath: ".status.availableReplicas", type: "integer" },
    { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Image", jsonPath: ".spec.image" },
    { name: "URL", jsonPath: ".status.url", priority: 1 },
    { name: "Why", jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
} as const;
