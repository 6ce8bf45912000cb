import { conclude } from "../tally.ts";
import { compare, type Difference } from "./compare.ts";
import { cleanUp, play } from "./play.ts";
import { stories } from "./requests/index.ts";
import { embeddedServer, realServer } from "./server.ts";

/**
 * Plays the same requests about built-in kinds on a real API server and on an embedded one, and
 * prints where they answer differently.
 *
 *     KUBECONFIG=admin.kubeconfig node tests/differential/builtin/main.ts [part of a story's name]
 *
 * The real server must be bare: controllers would change objects between two requests. Its
 * kubeconfig must be written as JSON.
 */
const kubeconfig = process.env.KUBECONFIG;
if (kubeconfig === undefined) throw new Error("KUBECONFIG must name the kubeconfig of a bare API server");
const wanted = process.argv[2] ?? "";
const namespace = `builtin-${process.pid}`;
await using real = realServer(kubeconfig);
await using ours = await embeddedServer();

const differences: Difference[] = [];
let compared = 0;
for (const server of [real, ours]) {
  await server.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await server.send("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: "default" },
  });
}
for (const story of stories.filter(({ name }) => name.includes(wanted))) {
  const [expected, actual] = [await play(real, story, namespace), await play(ours, story, namespace)];
  for (const [index, answer] of expected.entries()) {
    const own = actual[index];
    compared++;
    const difference = own && compare(story.name, index, answer, own);
    if (difference) differences.push(difference);
  }
}
await cleanUp(real, namespace);

for (const { story, step, request, differs } of differences) {
  console.log(`${story} #${step} ${request.method} ${request.path} ${JSON.stringify(request.body)}`);
  for (const line of differs) console.log(`    ${line}`);
}
conclude({ name: "builtin", compared, differing: differences.length });
