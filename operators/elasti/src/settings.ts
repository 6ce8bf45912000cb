import { z } from "zod";

/**
 * Kubernetes sets variables of this form for each Service: `ELASTI_OPERATOR_PORT` if one is called
 * `elasti-operator`.
 */
const serviceLink = /^(tcp|udp|sctp):\/\//;
const port = (fallback: number) =>
  z.preprocess(
    (value) => (typeof value === "string" && serviceLink.test(value) ? undefined : value),
    z.coerce.number().int().min(1).max(65_535).default(fallback),
  );
/** One port, or several: `8013,8014`. */
const ports = (fallback: string) =>
  z.preprocess(
    (value) => (typeof value === "string" && serviceLink.test(value) ? undefined : value),
    z.coerce
      .string()
      .default(fallback)
      .transform((text, context) => {
        const numbers = text.split(",").map((one) => Number(one.trim()));
        if (numbers.every((one) => Number.isInteger(one) && one >= 1 && one <= 65_535)) return numbers;
        context.addIssue(`must be ports such as 8013,8014, not ${JSON.stringify(text)}`);
        return z.NEVER;
      }),
  );
const seconds = (fallback: number, most: number) =>
  z.coerce.number().int().min(1).max(most).default(fallback);
/** A variable that is set to nothing is one that is not set: manifests have them so. */
const optional = z
  .string()
  .optional()
  .transform((text) => (text === undefined || text.trim() === "" ? undefined : text.trim()));
const url = optional.refine((text) => text === undefined || URL.canParse(text), "must be a URL");

/** `20000-29999`: where the resolver listens, a port for each port of each Service. */
const portRange = z
  .string()
  .default("20000-29999")
  .transform((text, context) => {
    const [, from = "", to = ""] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? [];
    const range = { first: Number(from), last: Number(to) };
    if (from !== "" && range.first >= 1 && range.first <= range.last && range.last <= 65_535) return range;
    context.addIssue(
      `must be two ports such as 20000-29999, the lower one first, not ${JSON.stringify(text)}`,
    );
    return z.NEVER;
  });

/** What both programs read. The names are the original's where it has the setting. */
const common = {
  POD_NAMESPACE: z.string().min(1).default("elasti").describe("Where the operator is installed"),
  KUBERNETES_CLUSTER_DOMAIN: z.string().min(1).default("cluster.local").describe("The cluster's DNS domain"),
  WATCH_NAMESPACES: z
    .string()
    .default("")
    .transform((text) => text.split(/[\s,]+/).filter((name) => name !== ""))
    .describe("Only these namespaces are watched, separated by commas; all if empty"),
  ELASTI_OPERATOR_PORT: port(8013).describe("Where every replica of the operator takes wake requests"),
  PATH_PROBE_KEY: optional.describe(
    "By which the operator recognizes the resolver's answers on the way to a Service; both have the same",
  ),
  SENTRY_DSN: url.describe("Where errors are reported to; nowhere if empty"),
  SENTRY_ENVIRONMENT: optional.describe("The environment that reports name"),
};

/** What the operator reads from its environment. */
export const OperatorSettings = z.object({
  ...common,
  ELASTI_RESOLVER_NAMESPACE: optional.describe(
    "Where the resolver's Service is; by default the operator's namespace",
  ),
  ELASTI_RESOLVER_SERVICE_NAME: z
    .string()
    .min(1)
    .default("elasti-operator-resolver")
    .describe("The Service whose endpoints are the resolver's replicas"),
  ELASTI_RESOLVER_PORT: ports("8013").describe(
    "Where every replica of the resolver reports what it does: a port for each of its processes",
  ),
  ELASTI_RESOLVER_PORT_RANGE: portRange.describe("The ports that the resolver listens on for Services"),
  ELASTI_WAKE_AUDIENCE: optional.describe(
    "The audience of the service account token that a wake request must have; without it all who reach the port may wake",
  ),
  ELASTI_WAKE_ACCOUNT: optional.describe(
    "The only service account, as NAMESPACE:NAME, whose tokens may wake; without it all may that have the audience",
  ),
  POLLING_INTERVAL: seconds(15, 3_600).describe("How often triggers are evaluated, in seconds"),
  PROMETHEUS_TRIGGER_SERVER_ADDRESS: url.describe("The Prometheus of triggers that name none"),
  PROMETHEUS_TRIGGER_AUTHORIZATION_HEADER: optional.describe("Sent to that Prometheus, and to no other"),
  SETTLE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(600)
    .default(5)
    .describe("How long the resolver alone takes new connections before pods may go"),
});
/** What the operator reads from its environment. */
export type OperatorSettings = z.output<typeof OperatorSettings>;

/** What the resolver reads from its environment. */
export const ResolverSettings = z.object({
  ...common,
  ELASTI_OPERATOR_NAMESPACE: optional.describe(
    "Where the operator's Service is; by default the resolver's namespace",
  ),
  ELASTI_OPERATOR_SERVICE_NAME: z
    .string()
    .min(1)
    .default("elasti-operator")
    .describe("The Service of the operator that wake requests are sent to"),
  ELASTI_OPERATOR_URL: url.describe("Where wake requests are sent to, instead of the operator's Service"),
  ELASTI_OPERATOR_TOKEN_FILE: optional.describe("A file with the token that wake requests carry"),
  ELASTI_RESOLVER_PROXY_PORT: port(8012).describe(
    "A port that takes requests of all Services by the host that they name, as the original's resolver does",
  ),
  ELASTI_RESOLVER_PORT: port(8013).describe("Where this process reports to the operator what it does"),
  ELASTI_RESOLVER_SHARES_PORTS: z
    .stringbool()
    .default(false)
    .describe("Whether other processes of the pod listen on the ports for clients too"),
  ELASTI_RESOLVER_HOST: optional.describe("The address to listen on; by default all"),
  HEADER_FOR_HOST: optional.describe("On that port, a header that names the host instead of Host"),
  QUEUE_SIZE: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(50_000)
    .describe("How many requests may wait, of all Services"),
  QUEUE_MEGABYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_536)
    .default(256)
    .describe("How much memory the heads and bodies of requests that wait may take, of all Services"),
  REQ_TIMEOUT: seconds(600, 3_600).describe(
    "How long a request may wait, in seconds, where its ElastiService sets no limit",
  ),
  DRAIN_SECONDS: seconds(600, 3_600).describe(
    "How long requests may go on after the resolver was asked to stop",
  ),
});
/** What the resolver reads from its environment. */
export type ResolverSettings = z.output<typeof ResolverSettings>;

/** Settings that cannot be used. The message has a line for each variable. */
export class SettingsError extends Error {
  constructor(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]) {
    super(issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`).join("\n"));
    this.name = "SettingsError";
  }
}

/** Reads settings from the environment. @throws SettingsError that names the variables */
export function settingsFrom<S extends z.ZodType>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<S> {
  const { success, data, error } = schema.safeParse(environment);
  if (!success) throw new SettingsError(error.issues);
  return data;
}

/** Reads a program's settings. If it cannot, it prints the reason and ends the process. */
export function settingsOfProcess<S extends z.ZodType>(schema: S): z.output<S> {
  try {
    return settingsFrom(schema, process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`cannot start: ${error.message}\n`);
    process.exit(2);
  }
}
