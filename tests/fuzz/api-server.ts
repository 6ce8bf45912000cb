/**
 * Sends the embedded control plane requests that make no sense, by the ten thousand, and prints those that it does not take well: a
 * panic, or a failure of its own where the real server has none.
 *
 *     node tests/fuzz/api-server.ts [--seed N] [--count N] [--kubeconfig FILE]
 *
 * With a kubeconfig, what failed here is sent to the real server too, and only what it takes better is printed.
 */
import { parseArgs } from "node:util";
import { widgetDefinition } from "../differential/http/widget.ts";
import { openReal } from "../differential/servers.ts";
import { fuzz } from "./fuzz.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "20000" },
    kubeconfig: { type: "string" },
  },
});
const started = Date.now();
const { failures, statuses } = await fuzz(Number(values.seed), Number(values.count));
const kept: string[] = [];
if (values.kubeconfig === undefined) kept.push(...failures.map(({ what }) => what));
else {
  await using real = openReal(values.kubeconfig);
  await real.send({
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    body: widgetDefinition("fuzz.example.com"),
  });
  for (const { request, what, status } of failures) {
    const { method, url, headers, body } = request;
    const answer = await real.send({
      method,
      path: url,
      headers: Object.fromEntries(Object.entries(headers).filter(([, text]) => /^[\x20-\x7e]*$/.test(text))),
      ...(body === undefined ? {} : { body }),
    });
    if (status === "panic" || answer.status !== status) kept.push(`${what}\n  real: ${answer.status}`);
  }
  await real.send({
    method: "DELETE",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.fuzz.example.com",
  });
}
for (const what of kept.slice(0, 20)) process.stdout.write(`${what}\n`);
const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
process.stdout.write(
  `${values.count} requests in ${Date.now() - started} ms, ${kept.length} taken badly (${counts.join(", ")})\n`,
);
process.exitCode = kept.length === 0 ? 0 : 1;
