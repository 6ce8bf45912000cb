import { Namespace } from "@windlass/runtime/kinds";
import { startCluster } from "@windlass/testing";
import { kinds } from "../src/kinds.fixture.ts";
import type { BuildsSeen } from "../src/worker/machine.ts";
import type { BuildProbe, ProbeInit } from "../src/worker/probe.ts";
import type { Build, TestEnvironment } from "./environment.ts";
import { operatorNamespace, Replicas } from "./replicas.ts";

/** Builds that a test has started, on daemons that are not there. */
class PretendedBuilds implements BuildProbe {
  readonly #counts = new Map<string, number>();

  async builds({ worker }: Pick<ProbeInit, "worker">): Promise<BuildsSeen> {
    return { is: "known", count: this.#counts.get(`${worker.namespace}/${worker.name}`) ?? 0 };
  }

  async prune(): Promise<boolean> {
    return true;
  }

  start({ namespace: where, name }: ProbeInit["worker"]): Build {
    const key = `${where}/${name}`;
    const add = (amount: number) => this.#counts.set(key, (this.#counts.get(key) ?? 0) + amount);
    add(1);
    return {
      end: async () => {
        add(-1);
      },
    };
  }
}

/** The embedded control plane with two replicas of the operator. */
export async function embeddedEnvironment(): Promise<TestEnvironment> {
  const cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(...kinds);
  cluster.controlPlane?.node.missingImages("moby/buildkit:no-such-tag");
  const { client } = cluster;
  await client.create(Namespace, { metadata: { name: operatorNamespace } });
  const probe = new PretendedBuilds();
  const gatewayImage = "windlass/buildkit:dev";
  const replicas = new Replicas(cluster, { gatewayImage, probe, fetchJson: noIssuer, askEvery: "100ms" });
  await replicas.start();
  return {
    client,
    poolDefaults: {},
    createNamespace: () => cluster.createNamespace("builds"),
    startBuild: async (worker) => probe.start(worker),
    killLeader: () => replicas.killLeader(),
    close: async () => {
      await replicas.stop();
      await cluster.close();
    },
  };
}

function noIssuer(url: string): Promise<never> {
  return Promise.reject(new Error(`there is no answer at ${url}`));
}
