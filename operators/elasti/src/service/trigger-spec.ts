import { cel } from "@windlass/runtime";
import { z } from "zod";
import { cronPattern, timeZonePattern } from "../triggers/patterns.ts";

/** A number: the API server takes integers as they are, and decimals in quotes. */
const threshold = z.union([
  z.int(),
  z
    .string()
    .max(32)
    .regex(/^[0-9]+([.][0-9]+)?$/),
]);

/** Where a server is asked. */
const address = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/.+$/)
  .check(cel("isURL(self)", { message: "must be a URL" }));

/**
 * What a trigger needs to know. Which fields a type needs is checked by rules, so that the answer
 * names the field.
 */
const metadata = z.looseObject({
  query: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe("prometheus: the PromQL query; its result must be one number"),
  serverAddress: address.optional().describe("prometheus: the server; by default the operator's own"),
  uptimeFilter: z
    .string()
    .max(1024)
    .optional()
    .describe("prometheus: labels of the `up` series that say that Prometheus itself is well"),
  url: address.optional().describe("http: where a JSON document is read"),
  valueLocation: z
    .string()
    .max(256)
    .regex(/^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$/)
    .optional()
    .describe("http: the number in the document, such as `queue.length`"),
  threshold: threshold.optional().describe("prometheus, http: below it the service is idle"),
  headers: z
    .record(z.string(), z.string().max(4096))
    .optional()
    .describe("prometheus, http: headers of the request"),
  headersFrom: z
    .array(
      z.object({
        name: z
          .string()
          .max(256)
          .regex(/^[A-Za-z0-9-]+$/),
        secretKeyRef: z.object({ name: z.string().min(1).max(253), key: z.string().min(1).max(253) }),
      }),
    )
    .max(8)
    .optional()
    .describe("prometheus, http: headers whose values are in Secrets of the same namespace"),
  start: z
    .string()
    .regex(cronPattern)
    .optional()
    .describe("schedule: when the service wakes, as a cron expression"),
  end: z.string().regex(cronPattern).optional().describe("schedule: when it may sleep again"),
  timezone: z
    .string()
    .max(64)
    .regex(timeZonePattern)
    .optional()
    .describe("schedule: an IANA zone; by default UTC"),
});

function needs(type: string, fields: readonly string[]) {
  const given = fields.map((field) => `has(self.metadata.${field})`).join(" && ");
  return cel(`self.type != '${type}' || (has(self.metadata) && ${given})`, {
    message: `a ${type} trigger needs metadata with ${fields.join(" and ")}`,
    fieldPath: ".metadata",
  });
}

/** What decides whether a service is idle. */
export const trigger = z
  .object({
    type: z.enum(["prometheus", "http", "schedule", "traffic"]),
    metadata: metadata.optional(),
  })
  .check(
    needs("prometheus", ["query", "threshold"]),
    needs("http", ["url", "valueLocation", "threshold"]),
    needs("schedule", ["start", "end"]),
  );
