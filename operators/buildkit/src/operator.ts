import { type Clock, type Duration, type Random, systemClock, systemRandom } from "@windlass/clock";
import type { Addable, Controller } from "@windlass/runtime";
import { apiServerNames } from "./certificates/index.ts";
import { clusterCredentials } from "./cluster-credentials.ts";
import { CredentialStore } from "./credentials.ts";
import { oidcController } from "./oidc/controller.ts";
import type { FetchJson } from "./oidc/discovery.ts";
import { poolController } from "./pool/controller.ts";
import { workerController } from "./worker/controller.ts";
import { type BuildProbe, DaemonProbe } from "./worker/probe.ts";

/** What the operator is run with. */
export interface OperatorOptions {
  /** Where it runs, and keeps the Secrets of the whole cluster. */
  readonly namespace: string;
  /** The image of gateways whose pool names none. */
  readonly gatewayImage: string;
  /**
   * Names by which clients outside reach the allocation API: no pool may have them.
   *
   * @default none
   */
  readonly apiHostnames?: readonly string[];
  /** @default buildkitd is asked */
  readonly probe?: BuildProbe;
  /** How often a worker that a client has is asked about its builds. @default "5s" */
  readonly askEvery?: Duration;
  /** @default over the network */
  readonly fetchJson?: FetchJson;
  /** @default the machine's clock */
  readonly clock?: Clock;
  /** @default the machine's randomness */
  readonly random?: Random;
}

/** What the operator consists of, for a manager. */
export function controllers(options: OperatorOptions): readonly Addable[] {
  const { namespace, clock = systemClock, random = systemRandom } = options;
  const credentials = new CredentialStore({ operatorNamespace: namespace, clock, random });
  return [clusterCredentials(credentials), ...controllersWith(credentials, options)];
}

/** The operator's controllers alone: they declare the rights that it needs. */
export function controllersWith(
  credentials: CredentialStore,
  options: OperatorOptions,
): readonly Controller[] {
  const { namespace, gatewayImage, fetchJson, clock = systemClock, askEvery, apiHostnames = [] } = options;
  const probe = options.probe ?? new DaemonProbe(credentials, clock);
  const apiNames = apiServerNames({ namespace, hostnames: apiHostnames });
  return [
    poolController({ credentials, gatewayImage, operatorNamespace: namespace, apiNames }),
    workerController({ credentials, probe, ...(askEvery !== undefined && { askEvery }) }),
    oidcController({ namespace, ...(fetchJson && { fetchJson }) }),
  ];
}
