import { createKind, deleteKind, playCustom, untilServed } from "./custom-resources.ts";
import type { Divergence } from "./judge.ts";
import { realServer } from "./real-server.ts";

/**
 * Plays generated sequences of writes against a real API server and holds every answer against the merge functions.
 *
 *     KUBECONFIG=admin.kubeconfig node tests/differential/merge/main.ts [first seed] [kinds] [sequences per kind] [steps]
 */
const [first = 1, kinds = 10, sequences = 4, steps = 8] = process.argv.slice(2).map(Number);
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
const seeds = Array.from({ length: kinds }, (_, at) => first + at);
const pending = [...seeds];
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (let seed = pending.shift(); seed !== undefined; seed = pending.shift()) {
      const custom = await createKind(send, seed);
      try {
        await untilServed(send, namespace, custom);
        const runs = await Promise.all(
          Array.from({ length: sequences }, (_, at) => {
            return playCustom(send, { namespace, owners }, custom, (seed as number) * 1000 + at, steps);
          }),
        );
        for (const run of runs) {
          played += run.played;
          divergences.push(...run.divergences);
        }
      } finally {
        await deleteKind(send, custom);
      }
    }
  }),
);
await send("DELETE", `/api/v1/namespaces/${namespace}`);
close();

for (const divergence of divergences) console.log(JSON.stringify(divergence));
console.error(`${kinds * sequences} sequences, ${played} writes, ${divergences.length} divergences`);
process.exitCode = divergences.length === 0 ? 0 : 1;
