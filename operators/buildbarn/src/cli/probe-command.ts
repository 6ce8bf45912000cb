import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, CommandError, command, UsageError } from "@windlass/cli";
import { systemClock } from "@windlass/clock";
import { ports, sorted } from "../configuration/index.ts";
import { smoke } from "../probe/smoke.ts";

/** Runs an action through a frontend, from wherever one is. */
export const probeCommand: Command = command({
  name: "probe",
  summary: "run a small action through a frontend, as Bazel would",
  description: `
Uploads an action, has it executed, reads what it made and looks it up in the cache: what the operator's
own probe does, from where you are. Prints how long it took, or what Bazel would have received. ENDPOINT is
grpc://HOST:PORT, or grpcs://HOST:PORT with --ca. The image of the workers' runners must have a shell.`,
  arguments: { usage: "ENDPOINT", most: 1 },
  options: {
    platform: {
      type: "string",
      value: "NAME=VALUE,…",
      describe: "what workers must have, exactly",
      otherwise: "OSFamily=linux",
    },
    instance: {
      type: "string",
      value: "NAME",
      describe: "as Bazel's --remote_instance_name",
      otherwise: "none",
    },
    ca: {
      type: "string",
      value: "FILE",
      describe: "the authorities that sign the frontend's certificate",
      completion: "files",
    },
    "token-file": { type: "string", value: "FILE", describe: "a token to show", completion: "files" },
    timeout: { type: "string", value: "SECONDS", describe: "how long it may take", otherwise: "60" },
  },
  examples: [
    { line: "windlass-buildbarn probe grpc://builds-frontend.default.svc:8980", what: "in the cluster" },
    {
      line: "windlass-buildbarn probe grpcs://builds.example.com:8980 --ca ca.crt --token-file token",
      what: "from outside",
    },
  ],
  async run({ options, arguments: [endpoint] }, terminal) {
    const { scheme, address } = endpointOf(endpoint);
    const seconds = Number(options.timeout ?? "60");
    if (!(seconds > 0)) throw new UsageError(`--timeout must be a number of seconds, not ${options.timeout}`);
    if ((scheme === "grpcs") !== (options.ca !== undefined))
      throw new UsageError("--ca goes with grpcs://, and grpcs:// with --ca");
    const read = async (path: string) => (await readFile(resolve(terminal.folder, path), "utf8")).trim();
    const token = options["token-file"] === undefined ? undefined : await read(options["token-file"]);
    const limit = AbortSignal.timeout(seconds * 1_000);
    const result = await smoke(
      {
        address,
        instanceName: options.instance ?? "",
        platform: sorted(propertiesIn(options.platform ?? "OSFamily=linux")),
        nonce: `probe-${process.pid}-${systemClock.now()}`,
        timeoutSeconds: Math.ceil(seconds),
        connection: {
          ...(options.ca !== undefined && { authorities: await read(options.ca) }),
          ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
        },
      },
      systemClock,
      AbortSignal.any([terminal.signal, limit]),
    ).catch((error: unknown) => {
      if (limit.aborted) throw new CommandError(`not done within ${seconds} s`);
      throw error;
    });
    if (!result.ok) throw new CommandError(result.message);
    terminal.stdout.write(`${result.message}: ${Math.round(result.latencyMs)} ms\n`);
  },
});

function endpointOf(text: string | undefined) {
  const parts = /^(?:(grpcs?):\/\/)?([^/:]+|\[[^\]]+\])(?::(\d+))?$/.exec(text ?? "");
  if (!parts) throw new UsageError("name an endpoint, such as grpc://builds-frontend.default.svc:8980");
  const [, scheme = "grpc", host, port = ports.frontend] = parts;
  return { scheme, address: `${host}:${port}` };
}

function propertiesIn(text: string) {
  return text.split(",").map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`--platform wants NAME=VALUE, not ${JSON.stringify(pair)}`);
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
}
