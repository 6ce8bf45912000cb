import { cel } from "@windlass/runtime";
import { z } from "zod";

export { filled } from "@windlass/runtime";

/** The group of all kinds, the original's. */
export const group = "buildkit.smrt-devops.net";

/** What all kinds have in common. */
export const common = { group, version: "v1alpha1", categories: ["buildkit"] } as const;

const dnsLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/** The name of an object in the same namespace. */
export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(new RegExp(`^${dnsLabel}([.]${dnsLabel})*$`));

/** A namespace. */
export const namespaceName = z
  .string()
  .min(1)
  .max(63)
  .regex(new RegExp(`^${dnsLabel}$`));

/** A DNS name without a port; the first label may be `*` where that is allowed. */
export const hostName = z
  .string()
  .min(1)
  .max(253)
  .regex(new RegExp(`^${dnsLabel}([.]${dnsLabel})*$`));

/**
 * The same for clients outside of the cluster. What has fewer labels, or a Service's form, may be
 * another's: a certificate for it would let a pool pass for any Service, the allocation API too.
 */
export const outerName = hostName.check(
  cel(
    "self.matches('^([^.]+[.]){2,}[^.]+$') && !self.matches('^([^.]+[.]){2,}svc([.]|$)')",
    "must be a name from outside of the cluster with at least three labels, such as builds.example.com",
  ),
);

/** A span of time as Go writes it, such as `90s` or `1h30m`. Read it with `spanMs`. */
export const span = z
  .string()
  .max(32)
  .regex(/^([0-9]+([.][0-9]+)?(ms|s|m|h))+$/);

/** A span above zero. */
export const positiveSpan = span.check(cel("duration(self) > duration('0s')", "must be above 0"));

/** A time on the wall clock, with its offset. */
export const time = z.iso.datetime({ offset: true });

/** A TCP port. */
export const port = z.int32().min(1).max(65_535);

const cronField = (value: string) => {
  const range = `([*]|${value}(-${value})?)(/[1-9][0-9]?)?`;
  return `${range}(,${range})*`;
};
const cronPattern = [
  cronField("[0-5]?[0-9]"),
  cronField("([01]?[0-9]|2[0-3])"),
  cronField("(0?[1-9]|[12][0-9]|3[01])"),
  cronField("(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"),
  cronField("([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)"),
].join(" +");

/** A schedule in cron's five fields: minute, hour, day of the month, month, day of the week. */
export const cron = z
  .string()
  .max(256)
  .regex(new RegExp(`^${cronPattern}$`));

/** A time zone of the IANA database, such as `Europe/Berlin`. */
export const timeZone = z
  .string()
  .min(1)
  .max(64)
  .check(
    cel(
      "timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0",
      "must be a time zone of the IANA database, such as Europe/Berlin",
    ),
  );

/** IPv4 or IPv6 with a prefix length. */
export const cidr = z.string().max(64).check(cel("isCIDR(self)", "must be a CIDR such as 10.0.0.0/8"));

/** Annotations to put on an object. */
export const annotations = z.record(z.string(), z.string().max(4_096));
