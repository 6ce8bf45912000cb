/**
 * Sends the embedded control plane invalid requests, by the hundred thousand, and prints those that
 * it does not take well: a panic, or a failure of its own where the real server has none.
 *
 *     node tests/fuzz/api-server.ts [--seeds 1,2,3] [--count N] [--kubeconfig FILE]
 *
 * So many requests are sent for each seed, and a tenth as many over HTTPS: 20,000 take about 20 s.
 * With the kubeconfig of a real server that is there for nothing else, what failed here is sent
 * there too, and must fail there with the same status.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";
import { fuzzRemote } from "./fuzz-remote.ts";
import { RemoteServer } from "./remote.ts";
import { cleanUp, replay } from "./replay.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1" },
    count: { type: "string", default: "20000" },
    kubeconfig: { type: "string" },
  },
});
using real =
  values.kubeconfig === undefined ? undefined : new RemoteServer(readFileSync(values.kubeconfig, "utf8"));
let bad = 0;
for (const seed of values.seeds.split(",").map(Number)) {
  const started = Date.now();
  const { failures, unexpected, statuses } = await fuzz(seed, Number(values.count));
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
  const replayed = real && (await replay(real, failures));
  const kept = replayed?.differences ?? unexpected.map(({ what }) => what);
  bad += kept.length;
  for (const what of kept.slice(0, 20)) process.stdout.write(`${what}\n`);
  process.stdout.write(
    `seed ${seed}: ${values.count} requests in ${Date.now() - started} ms, ${kept.length} taken badly (${counts.join(", ")})` +
      `${replayed ? `; ${replayed.tried} failures tried on the real server` : ""}\n`,
  );
}
if (real) await cleanUp(real);
const dropped = await fuzzRemote(Number(values.seeds.split(",")[0]), Number(values.count) / 10);
for (const what of dropped.slice(0, 20)) process.stdout.write(`${what}\n`);
process.stdout.write(`over HTTPS: ${dropped.length} left without an answer\n`);
bad += dropped.length;
process.exitCode = bad === 0 ? 0 : 1;
