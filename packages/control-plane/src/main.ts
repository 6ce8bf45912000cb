import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ControlPlane } from "./control-plane.ts";

const usage = `Usage: windlass-control-plane --kubeconfig FILE [options]

A Kubernetes API server in one process, for developing and testing operators. Runs until it is stopped.

  --kubeconfig FILE   write a kubeconfig for kubectl and other clients here
  --port N            listen on this port (default: any free one)
  --host ADDRESS      listen on this address (default: 127.0.0.1)
  --help              show this
`;

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    port: { type: "string" },
    host: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help || values.kubeconfig === undefined) {
  process.stdout.write(usage);
  process.exit(values.help ? 0 : 2);
}
const plane = await ControlPlane.start();
await plane.listen({
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
  ...(values.host === undefined ? {} : { host: values.host }),
});
await writeFile(values.kubeconfig, await plane.kubeconfig(), { mode: 0o600 });
process.stdout.write(`ready in ${Math.round(performance.now())} ms\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void plane.close());
