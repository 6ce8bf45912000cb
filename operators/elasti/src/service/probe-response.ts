import { cel } from "@windlass/runtime";
import { z } from "zod";

const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"] as const;
const statuses = [200, 204, 400, 401, 403, 404, 500, 502, 503, 504] as const;

/** A pattern that is malformed is an error of the rule, with the place where it is. */
const isPattern = cel(
  "self.type != 'RegularExpression' || ''.matches(self.value) || !''.matches(self.value)",
  { message: "must be a regular expression of RE2", fieldPath: ".value" },
);

function matcher(longestValue: number) {
  return z
    .object({
      name: z.string().min(1).max(256),
      value: z.string().min(1).max(longestValue),
      type: z.enum(["Exact", "RegularExpression"]).default("Exact"),
    })
    .check(isPattern);
}

/**
 * A request that the resolver answers by itself, such as a health check, and that wakes no target.
 * All that is given must match.
 */
export const probeResponse = z.object({
  path: z
    .object({
      type: z.enum(["Exact", "PathPrefix", "RegularExpression"]).default("PathPrefix"),
      value: z.string().max(1024).default("/"),
    })
    .check(isPattern)
    .exactOptional(),
  headers: z.array(matcher(4096)).max(16).exactOptional(),
  queryParams: z.array(matcher(1024)).max(16).exactOptional(),
  method: z.enum(methods).exactOptional(),
  response: z.object({
    status: z.literal(statuses).describe("The status to answer with"),
    body: z.string().describe("The body to answer with"),
  }),
});
