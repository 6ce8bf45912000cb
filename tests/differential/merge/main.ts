import { conclude } from "../tally.ts";
import { builtinScenarios } from "./builtin.ts";
import { createCustom, deleteCustom } from "./custom.ts";
import type { Divergence, Played } from "./judge.ts";
import { play } from "./play.ts";
import { realServer } from "./real-server.ts";

/**
 * Plays generated sequences of writes against a real API server and holds every answer against the
 * merge functions. Prints each divergence as a line of JSON, with its seed.
 *
 * KUBECONFIG=admin.kubeconfig node tests/differential/merge/main.ts [first seed] [CRDs] [sequences
 * per kind] [steps]
 *
 * The kubeconfig must be written as JSON. Everything it creates, it deletes.
 */
const [first = 1, crds = 10, sequences = 4, steps = 8] = process.argv.slice(2).map(Number);
const kubeconfig = process.env.KUBECONFIG;
if (kubeconfig === undefined) throw new Error("KUBECONFIG must name the kubeconfig of a real API server");
const { send, close } = realServer(kubeconfig);
const namespace = `merge-${process.pid}`;
await send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
const owners = await Promise.all(
  ["default", "kube-system"].map(async (name) => {
    const { body } = await send("GET", `/api/v1/namespaces/${name}`);
    return { name, uid: String((body.metadata as { uid?: unknown }).uid) };
  }),
);

const divergences: Divergence[] = [];
let played = 0;
let accepted = 0;

function count(runs: readonly Played[]): void {
  for (const run of runs) {
    played += run.played;
    accepted += run.accepted;
    divergences.push(...run.divergences);
  }
}

async function playCustom(seed: number): Promise<void> {
  const scenario = await createCustom(send, namespace, seed);
  try {
    count(
      await Promise.all(
        Array.from({ length: sequences }, (_, at) => play(send, scenario, owners, seed * 1000 + at, steps)),
      ),
    );
  } finally {
    await deleteCustom(send, seed);
  }
}

const builtins = builtinScenarios(namespace);
const jobs = [
  ...Array.from({ length: crds }, (_, at) => () => playCustom(first + at)),
  ...Array.from({ length: sequences }, (_, at) => async () => {
    const seed = first * 1_000_000 + at;
    count(await Promise.all(builtins.map((scenario) => play(send, scenario, owners, seed, steps))));
  }),
];
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job();
  }),
);
await send("DELETE", `/api/v1/namespaces/${namespace}`);
await close();

for (const divergence of divergences) console.log(JSON.stringify(divergence));
console.error(`${(crds + builtins.length) * sequences} sequences, of ${played} writes ${accepted} accepted`);
conclude({ name: "merge", compared: played, differing: divergences.length });
