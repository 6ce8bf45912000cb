import { createHash } from "node:crypto";
import type { Browser } from "../browser/browser.ts";
import {
  type Access,
  browserDocument,
  type Checked,
  type Configuration,
  checkConfiguration,
  commonDocument,
  componentFiles,
  frontendDocument,
  type Program,
  ports,
  runnerDocument,
  schedulerDocument,
  storageDocument,
  type Version,
  workerDocument,
} from "../configuration/index.ts";
import type { Frontend } from "../frontend/frontend.ts";
import { expressionFault } from "../jmespath/index.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Storage } from "../storage/storage.ts";
import type { Worker } from "../worker/worker.ts";
import type { BuildbarnSet } from "./buildbarn-set.ts";
import { SetFault } from "./fault.ts";
import { tlsOf, tlsOfStorage } from "./internal-tls.ts";
import {
  browserUrl,
  checkSizeClass,
  frontendAddress,
  isGuarded,
  platformOf,
  platformQueues,
  schedulerOf,
  schedulerRoutes,
  seconds,
  shardsOfSet,
  storageOf,
} from "./relations.ts";

/** The files that a component's containers find at /config, and what reads them. */
export interface ComponentConfiguration {
  readonly version: Version;
  /** Each program of the component's pods, with the file that it is given. */
  readonly programs: readonly { readonly program: Program; readonly entry: string }[];
  readonly files: Readonly<Record<string, string>>;
  /**
   * How the component places blobs, as `mapText` writes it. Undefined if it is no client of shards,
   * or if that is not known.
   */
  readonly shardMap: string | undefined;
}

/** A ConfigMap of the user's own, in place of what would be generated. */
export interface OwnConfiguration {
  readonly files: Readonly<Record<string, string>>;
  /** The shard map in it, by its annotation. */
  readonly shardMap: string | undefined;
}

/**
 * The configuration of a shard.
 *
 * @param authorities What the components of the set trust, if they use TLS among themselves.
 * @throws SetFault
 */
export function storageConfiguration(
  storage: Storage,
  authorities: string | undefined,
  own?: OwnConfiguration,
): ComponentConfiguration {
  const { spec } = storage;
  const entry = "storage.jsonnet";
  const generated = () => {
    const tls = tlsOfStorage(storage, authorities);
    return componentFiles({
      common: commonDocument({ version: spec.version, tls }),
      documents: { [entry]: storageDocument(spec.version, spec, tls) },
      overrides: spec.configOverrides,
    });
  };
  return {
    version: spec.version,
    programs: [{ program: "bb_storage", entry }],
    files: own?.files ?? generated(),
    shardMap: undefined,
  };
}

/**
 * The configuration of a frontend.
 *
 * @param authorities Those that sign the certificates of clients, as the ConfigMap has them that
 *   the frontend names.
 * @throws SetFault
 */
export function frontendConfiguration(
  set: BuildbarnSet,
  frontend: Frontend,
  own?: OwnConfiguration,
  authorities?: string,
): ComponentConfiguration {
  const { version, configOverrides: overrides } = frontend.spec;
  const entry = "frontend.jsonnet";
  const programs = [{ program: "bb_storage", entry }] as const;
  if (own) return { version, programs, ...own };
  const shards = shardsOfSet(set, version, "reads");
  const documents = {
    [entry]: frontendDocument(version, schedulerRoutes(set), accessOf(frontend, authorities), tlsOf(set)),
  };
  const common = commonDocument({ version, shards });
  return {
    version,
    programs,
    files: componentFiles({ common, documents, overrides }),
    shardMap: shards.text,
  };
}

function accessOf(frontend: Frontend, authorities: string | undefined): Access | undefined {
  if (!isGuarded(frontend)) return undefined;
  checkExpressions(frontend);
  const { tls, authentication: { jwt, clientCertificates } = {}, authorization } = frontend.spec;
  if (clientCertificates && authorities === undefined)
    throw new SetFault(
      "ConfigMapMissing",
      `spec.authentication.clientCertificates.configMapName: there is no ConfigMap ${JSON.stringify(clientCertificates.configMapName)} with ca.crt`,
    );
  return {
    hasTls: tls !== undefined,
    ...(jwt && { jwt }),
    ...(authorization && { authorization }),
    ...(clientCertificates &&
      authorities !== undefined && {
        clientCertificates: { authorities, validation: clientCertificates.validation },
      }),
  };
}

/**
 * Each expression by itself: what only fits with what is written around it may mean something else.
 *
 * @throws SetFault
 */
function checkExpressions({
  spec: { authentication: { jwt, clientCertificates } = {}, authorization },
}: Frontend) {
  const expressions = {
    "authentication.jwt.claimsValidation": jwt?.claimsValidation,
    "authentication.clientCertificates.validation": clientCertificates?.validation,
    "authorization.read": authorization?.read,
    "authorization.writeBlobs": authorization?.writeBlobs,
    "authorization.writeResults": authorization?.writeResults,
    "authorization.execute": authorization?.execute,
  };
  const faults = Object.entries(expressions).flatMap(([field, text]) => {
    const fault = text === undefined ? undefined : expressionFault(text);
    return fault === undefined ? [] : [`spec.${field}: is no JMESPath that can be answered: ${fault}`];
  });
  if (faults.length > 0) throw new SetFault("ExpressionInvalid", faults.join("; "));
}

/**
 * The configuration of a scheduler. It reads blobs through a frontend, so a change of shards does
 * not restart it.
 *
 * @throws SetFault
 */
export function schedulerConfiguration(
  set: BuildbarnSet,
  scheduler: Scheduler,
  own?: OwnConfiguration,
): ComponentConfiguration {
  const { version, configOverrides: overrides, executionTimeout, noWorkersTimeout } = scheduler.spec;
  const entry = "scheduler.jsonnet";
  const programs = [{ program: "bb_scheduler", entry }] as const;
  if (own) return { version, programs, ...own, shardMap: undefined };
  // Whether the set uses TLS is set there: a scheduler whose storage is gone stays as it is.
  storageOf(set);
  const document = schedulerDocument({
    version,
    storageAddress: frontendAddress(set, scheduler),
    tls: tlsOf(set),
    queues: platformQueues(set, scheduler),
    defaultTimeout: seconds(executionTimeout.default, "spec.executionTimeout.default"),
    maximumTimeout: seconds(executionTimeout.maximum, "spec.executionTimeout.maximum"),
    noWorkersTimeout: seconds(noWorkersTimeout, "spec.noWorkersTimeout"),
  });
  const common = commonDocument({ version, browserUrl: browserUrl(set), tls: tlsOf(set) });
  return {
    version,
    programs,
    files: componentFiles({ common, documents: { [entry]: document }, overrides }),
    shardMap: undefined,
  };
}

/** The configuration of workers and their runners. @throws SetFault */
export function workerConfiguration(
  set: BuildbarnSet,
  worker: Worker,
  own?: OwnConfiguration,
): ComponentConfiguration {
  const { version, instance, configOverrides: overrides } = worker.spec;
  const [entry, runner] = [`worker-${instance}.jsonnet`, `runner-${instance}.jsonnet`];
  const programs = [
    { program: "bb_worker", entry },
    { program: "bb_runner", entry: runner },
  ] as const;
  if (own) return { version, programs, ...own };
  const shards = shardsOfSet(set, version, "writes");
  checkSizeClass(set, worker);
  const { instanceNamePrefix, sizeClass, concurrency, inputCache, completedActionLoggers } = worker.spec;
  const documents = {
    [entry]: workerDocument({
      schedulerAddress: `${schedulerOf(set, worker).metadata.name}:${ports.schedulerWorkers}`,
      tls: tlsOf(set),
      platform: platformOf(worker),
      instanceNamePrefix,
      sizeClass,
      concurrency,
      inputCache,
      ...(completedActionLoggers && { completedActionLoggers }),
    }),
    [runner]: runnerDocument(tlsOf(set)),
  };
  const common = commonDocument({ version, shards, browserUrl: browserUrl(set) });
  return {
    version,
    programs,
    files: componentFiles({ common, documents, overrides }),
    shardMap: shards.text,
  };
}

/** The configuration of a browser. @throws SetFault */
export function browserConfiguration(
  set: BuildbarnSet,
  { spec: { version, configOverrides: overrides } }: Browser,
  own?: OwnConfiguration,
): ComponentConfiguration {
  const entry = "browser.jsonnet";
  const programs = [{ program: "bb_browser", entry }] as const;
  if (own) return { version, programs, ...own };
  const shards = shardsOfSet(set, version, "reads");
  const common = commonDocument({ version, shards });
  return {
    version,
    programs,
    files: componentFiles({ common, documents: { [entry]: browserDocument(version) }, overrides }),
    shardMap: shards.text,
  };
}

/** The variables that every container has, with values such as they may have. */
const environment = { POD_NAME: "pod-0", NODE_NAME: "node-0", HOSTNAME: "pod-0" };

/** What a check of a component's configuration came to. */
export type CheckedConfiguration =
  | { readonly is: "valid"; readonly hash: string }
  /** It is not known here: it is tried on a pod. */
  | { readonly is: "unknown"; readonly hash: string; readonly why: string }
  | { readonly is: "invalid"; readonly faults: readonly string[] };

/** Evaluates the configuration of every program as the program would. */
export function checkComponent(configuration: ComponentConfiguration): CheckedConfiguration {
  return sumUp(
    configuration,
    programConfigurations(configuration).map((one) => ("entry" in one ? checkConfiguration(one) : one)),
  );
}

/** What each of the programs is given, or that its file is missing. */
export function programConfigurations({
  version,
  programs,
  files,
}: ComponentConfiguration): readonly (Configuration | Checked)[] {
  return programs.map(({ program, entry }) =>
    files[entry] === undefined
      ? { is: "invalid" as const, faults: [`${entry}: there is no such file in the ConfigMap`] }
      : { program, entry, version, files, environment },
  );
}

/** What is known of a component's configuration, from what is known of each program's. */
export function sumUp({ files }: ComponentConfiguration, checked: readonly Checked[]): CheckedConfiguration {
  const faults = checked.flatMap((one) => (one.is === "invalid" ? one.faults : []));
  if (faults.length > 0) return { is: "invalid", faults };
  const hash = hashOf(files);
  const unknown = checked.find((one) => one.is === "unknown");
  return unknown ? { is: "unknown", hash, why: unknown.why } : { is: "valid", hash };
}

/** Ten letters and digits that stand for the text of files. */
export function hashOf(files: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 10);
}
