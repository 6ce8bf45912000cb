import type { Client } from "@windlass/client";
import { Secret } from "@windlass/runtime/kinds";
import { BuildKitWorker, poolNames, workerServerName } from "../src/index.ts";
import { textData } from "../src/secret-data.ts";
import type { TestEnvironment } from "./environment.ts";
import { startRealBuild } from "./lab-build.ts";
import { LabOperator } from "./lab-operator.ts";

type Profile = "rootless" | "privileged";

/**
 * The cluster of KUBECONFIG, with real buildkitd in real pods, and two replicas of the operator in
 * processes that are really killed.
 */
export async function labEnvironment(profile: Profile): Promise<TestEnvironment> {
  const operator = await LabOperator.start(2);
  const { client } = operator;
  return {
    client,
    poolDefaults: {
      profile,
      resources: { buildkit: { requests: { cpu: "20m", memory: "32Mi" } } },
    },
    createNamespace: () => operator.createNamespace(),
    startBuild: (worker) => directBuild(client, worker),
    killLeader: async () => {
      const leader = await operator.leader();
      await operator.kill(leader);
      await operator.revive(leader);
    },
    close: () => operator[Symbol.asyncDispose](),
  };
}

/** A build on a worker itself, with what its gateway shows it. */
async function directBuild(client: Client, key: { readonly namespace: string; readonly name: string }) {
  const worker = await client.get(BuildKitWorker, key);
  const name = poolNames(worker.spec.poolRef.name).clientCertsSecret;
  const data = textData(await client.get(Secret, { namespace: key.namespace, name }));
  return await startRealBuild({
    address: worker.status?.endpoint ?? "",
    serverName: workerServerName(key),
    certificate: data["client.crt"] ?? "",
    key: data["client.key"] ?? "",
    trust: data["ca.crt"] ?? "",
    podIp: worker.status?.podIP ?? "",
  });
}
