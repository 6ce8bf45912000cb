import {
  ApiError,
  Client,
  type ClusterAccess,
  findAccess,
  isForbidden,
  openTransport,
  TransportError,
} from "@windlass/client";
import { definitionsOf } from "../generate/objects/installation.ts";
import { plainRendering } from "../generate/rendering.ts";
import type { Operator } from "../generate/resolve.ts";
import { examineAccess, examineServer, kubeconfigRemedy, serverFault } from "./cluster.ts";
import { examineDefinition } from "./definitions.ts";
import { type Finding, fault, skipped } from "./finding.ts";
import { examineMachine } from "./machine.ts";
import { examineRights } from "./rights.ts";
import { ServerClock } from "./server-clock.ts";
import { examineWebhooks } from "./webhooks.ts";
import { examineDeployment, examineLease } from "./workload.ts";

/** What is looked at. */
export interface Examination {
  /** Of the operator. */
  readonly folder: string;
  /** @default machine and cluster alone */
  readonly operator?: Operator;
  /** Where it is installed. @default the one that it declares */
  readonly namespace?: string;
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This machine's clock: milliseconds since 1970. */
  readonly now: () => number;
  /** The version of Node. */
  readonly node: string;
}

/**
 * Looks at everything that an operator needs, from the machine to its webhooks. What depends on
 * something that is missing is left out.
 */
export async function* examine(examination: Examination): AsyncGenerator<Finding> {
  const { folder, node, now } = examination;
  yield* await examineMachine(folder, node);
  let access: ClusterAccess;
  try {
    access = await accessOf(examination);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    yield fault("Kubeconfig", words, kubeconfigRemedy(error));
    return;
  }
  yield* examineAccess(access, now());
  // Told at once, not after several attempts.
  const transport = openTransport(access, { attempts: 1, connectTimeout: 5_000, env: examination.env });
  const clock = new ServerClock(now);
  await using client = new Client({
    transport: clock.interceptor(transport),
    fieldManager: "windlass-doctor",
    onWarning: () => undefined,
  });
  const server = await examineServer(client);
  yield server;
  yield* clock.findings();
  if (server.is === "fault" || examination.operator === undefined) return;
  try {
    yield* examineOperator(client, examination.operator, { ...examination, now: clock.now });
  } catch (error) {
    // The server went away meanwhile: nothing more can be looked at.
    if (!(error instanceof TransportError)) throw error;
    yield serverFault(error);
  }
}

async function* examineOperator(
  client: Client,
  operator: Operator,
  { namespace = operator.namespace, now }: Examination,
): AsyncGenerator<Finding> {
  const { manager, components, lease } = operator;
  const rendering = { ...plainRendering(operator), namespace };
  for (const definition of definitionsOf(operator, rendering))
    yield* await looked(`CRD ${definition.metadata.name}`, () => examineDefinition(client, definition));
  for (const component of [manager, ...components]) {
    yield* await looked(`Deployment ${component.name}`, () =>
      examineDeployment(client, component, namespace),
    );
    yield* await looked(`Rights of ${component.name}`, () =>
      examineRights(client, operator, component, namespace),
    );
  }
  if (lease !== undefined)
    yield* await looked(`Lease ${lease}`, () => examineLease(client, lease, namespace, now()));
  yield* await looked("Webhooks", () => examineWebhooks(client, operator, namespace, now()));
}

/** What to do where the server answers, with an error of its own or of what it calls. */
const refusedRemedy =
  "if the message names a webhook or a service, that is what fails; else the API server's own log says why";

/**
 * What may not be looked at is reported, and so is what the server cannot show. The rest is looked
 * at.
 */
async function looked(
  about: string,
  look: () => Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    const found = await look();
    return "is" in found ? [found] : found;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const words = error.status.message ?? error.message;
    return [isForbidden(error) ? skipped(about, words) : fault(about, words, refusedRemedy)];
  }
}

async function accessOf({ context, env }: Examination): Promise<ClusterAccess> {
  return await findAccess({ env, ...(context === undefined ? {} : { context }) });
}
