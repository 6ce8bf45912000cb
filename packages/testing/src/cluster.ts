import { randomBytes } from "node:crypto";
import { Client, isAlreadyExists, isNotFound, type Transport } from "@windlass/client";
import type { ControlPlane, ControlPlaneOptions } from "@windlass/control-plane";
import { CustomResourceDefinition, Namespace, ServiceAccount } from "@windlass/runtime/kinds";
import { waitFor, waitForDeletion } from "./wait.ts";

/** What a test runs against: the embedded control plane, a real API server of its own, or a cluster that is there already. */
export type Flavour = "embedded" | "binaries" | "cluster";

export interface ClusterOptions {
  /** @default KUBECONFIG → "cluster", KUBEBUILDER_ASSETS → "binaries", else "embedded" */
  readonly flavour?: Flavour;
  /** Clock, randomness and controllers of an embedded control plane. The others ignore them. */
  readonly embedded?: ControlPlaneOptions;
}

/** A definition to install: a CRD, or anything that makes one, such as what `defineResource` returns. */
export type Installable =
  | { crd(): object }
  | { readonly kind: "CustomResourceDefinition"; readonly metadata: { readonly name: string } };

/**
 * An API server for a test, whichever it is. What a test made through it is gone when it is disposed of.
 *
 * @example
 * await using cluster = await startCluster();
 * await cluster.install(WebApp);
 * const namespace = await cluster.createNamespace();
 */
export class TestCluster implements AsyncDisposable {
  readonly flavour: Flavour;
  /** May do everything. */
  readonly client: Client;
  readonly #backend: Backend;
  readonly #namespaces: string[] = [];
  readonly #definitions: string[] = [];

  constructor(flavour: Flavour, backend: Backend) {
    this.flavour = flavour;
    this.#backend = backend;
    this.client = new Client({
      transport: backend.transport(),
      fieldManager: "windlass-testing",
      onWarning: () => undefined,
    });
  }

  /** The embedded control plane, to inject faults and move time. Undefined for the other flavours. */
  get controlPlane(): ControlPlane | undefined {
    return this.#backend.controlPlane;
  }

  /** Whether Deployments roll out, namespaces empty and garbage is collected here. A bare API server does none of it. */
  get hasControllers(): boolean {
    return this.#backend.hasControllers;
  }

  /** The path of a kubeconfig for the administrator. */
  kubeconfig(): Promise<string> {
    return this.#backend.kubeconfig();
  }

  /** A transport of its own for another client, with the administrator's rights. */
  transport(): Transport {
    return this.#backend.transport();
  }

  /** A client that may do what the service account may: how an operator's role is put to the test. */
  async clientFor(namespace: string, serviceAccount: string): Promise<Client> {
    const account = { metadata: { namespace, name: serviceAccount } };
    await this.client.create(ServiceAccount, account).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    const inner = this.#backend.transport();
    const headers = { "impersonate-user": `system:serviceaccount:${namespace}:${serviceAccount}` };
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    return new Client({
      transport: {
        request: (request) =>
          inner.request({
            ...request,
            headers: { ...request.headers, ...headers, "impersonate-group": groups },
          }),
        close: () => inner.close(),
      },
      onWarning: () => undefined,
    });
  }

  /** Installs definitions and waits until they are served. */
  async install(...definitions: readonly Installable[]): Promise<void> {
    for (const definition of definitions) {
      const crd = ("crd" in definition ? definition.crd() : definition) as { metadata: { name: string } };
      await this.client.apply(CustomResourceDefinition, crd as never, { force: true });
      this.#definitions.push(crd.metadata.name);
      await waitFor(this.client, CustomResourceDefinition, { name: crd.metadata.name }, ({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === "Established" && value === "True")
          ? true
          : undefined,
      );
    }
  }

  /** A namespace that nobody else uses. */
  async createNamespace(prefix = "test"): Promise<string> {
    const name = `${prefix}-${randomBytes(4).toString("hex")}`;
    await this.client.create(Namespace, { metadata: { name } });
    this.#namespaces.push(name);
    return name;
  }

  /** Deletes what was made through this cluster, and stops what was started for it. */
  async close(): Promise<void> {
    if (this.#backend.shared) {
      for (const name of this.#namespaces) await this.#remove(Namespace, name);
      for (const name of this.#definitions) await this.#remove(CustomResourceDefinition, name);
    }
    await this.#backend.close();
  }

  async #remove(kind: typeof Namespace | typeof CustomResourceDefinition, name: string): Promise<void> {
    try {
      await this.client.delete(kind as typeof Namespace, { name });
      if (this.hasControllers || kind !== Namespace)
        await waitForDeletion(this.client, kind as typeof Namespace, { name });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What stands behind a test's cluster. */
export interface Backend {
  readonly controlPlane?: ControlPlane;
  readonly hasControllers: boolean;
  /** Whether others use it too, so that what was made must be taken away again. */
  readonly shared: boolean;
  transport(): Transport;
  kubeconfig(): Promise<string>;
  close(): Promise<void>;
}

/** Starts, or finds, a cluster for a test. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const flavour = options.flavour ?? flavourFromEnvironment();
  switch (flavour) {
    case "embedded": {
      const { startEmbedded } = await import("./embedded.ts");
      return new TestCluster(flavour, await startEmbedded(options.embedded));
    }
    case "binaries": {
      const { startBinaries } = await import("./binaries.ts");
      return new TestCluster(flavour, await startBinaries());
    }
    case "cluster": {
      const { findCluster } = await import("./existing.ts");
      return new TestCluster(flavour, await findCluster());
    }
  }
}

/** Which flavour the environment asks for. */
export function flavourFromEnvironment(environment: NodeJS.ProcessEnv = process.env): Flavour {
  if (environment.KUBECONFIG) return "cluster";
  return environment.KUBEBUILDER_ASSETS ? "binaries" : "embedded";
}
