import { once } from "node:events";
import { connect } from "node:net";
import { type Command, CommandError, command, type Terminal } from "@windlass/cli";
import { isInstalled } from "./build-tools.ts";
import { connectionOptions, openApi, poolOptions } from "./session.ts";
import { tokenSource } from "./token-source.ts";

/** What was looked at, and how it is. */
interface Finding {
  readonly what: string;
  readonly is: "well" | "wrong" | "unknown";
  readonly detail: string;
}

/** Finds out why a build cannot be done from here. */
export const doctorCommand: Command = command({
  name: "doctor",
  summary: "find out why it does not work from here",
  description: `
Looks at everything that a build needs, one after the other: a token, the API, its certificate, your
rights, the pool, its gateway, and the programs that build. Says what is wrong, and what to do.`,
  options: { ...poolOptions, json: { type: "boolean", describe: "print JSON" }, ...connectionOptions },
  examples: [{ line: "windlass-buildkit doctor --pool ci", what: "what to look at first" }],
  async run({ options }, terminal) {
    const findings: Finding[] = [];
    const look = async (what: string, work: () => Promise<string>): Promise<boolean> => {
      try {
        findings.push({ what, is: "well", detail: await work() });
        return true;
      } catch (error) {
        findings.push({ what, is: "wrong", detail: error instanceof Error ? error.message : String(error) });
        return false;
      }
    };
    // Once: who asks the doctor does not want to wait.
    const quick = { ...options, "retry-for": "0s" };
    const hasToken = await look("a token", async () => (await tokenSource(terminal, options)).describe);
    if (hasToken) {
      await using api = await openApi(quick, terminal);
      const isUp = await look("the allocation API", async () => {
        await api.health();
        return "answers, and its certificate is trusted";
      });
      if (isUp) await lookAtPools(api, look, options, terminal);
    }
    await look("a program to build with", async () => {
      const found = [];
      for (const name of ["buildctl", "docker", "buildx"])
        if (await isInstalled(name, terminal.env)) found.push(name);
      if (found.length === 0) throw new CommandError("none of buildctl, docker and buildx is on the PATH");
      return found.join(", ");
    });
    show(findings, options.json === true, terminal);
    const wrong = findings.filter(({ is }) => is === "wrong");
    if (wrong.length > 0) throw new CommandError(`${wrong.length} of ${findings.length} are wrong`);
  },
});

async function lookAtPools(
  api: Awaited<ReturnType<typeof openApi>>,
  look: (what: string, work: () => Promise<string>) => Promise<boolean>,
  options: { readonly pool?: string; readonly namespace?: string },
  { env }: Terminal,
): Promise<void> {
  const isKnown = await look("who you are", async () => {
    const { body } = await api.call("GET", "/api/v1/pools");
    const pools = body.pools as readonly unknown[];
    return `recognized; you may look at ${pools.length} pools`;
  });
  const name = options.pool ?? env.BKCTL_POOL;
  if (!isKnown || name === undefined) return;
  const namespace = options.namespace ?? env.BKCTL_NAMESPACE ?? "default";
  let endpoint = "";
  const isThere = await look(`pool ${namespace}/${name}`, async () => {
    const { body } = await api.call(
      "GET",
      `/api/v1/pools/${name}?namespace=${encodeURIComponent(namespace)}`,
    );
    endpoint = String(body.externalEndpoint ?? body.endpoint);
    return `${String(body.status)}, ${JSON.stringify(body.workers)}`;
  });
  if (isThere) await look("the pool's gateway", () => reach(endpoint));
}

async function reach(endpoint: string): Promise<string> {
  const { hostname, port } = new URL(endpoint);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(5_000) });
    return `${endpoint} can be reached from here`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${endpoint} cannot be reached from here: ${why}`, { cause: error });
  } finally {
    socket.destroy();
  }
}

function show(findings: readonly Finding[], isJson: boolean, { stdout }: Terminal): void {
  if (isJson) stdout.write(`${JSON.stringify({ findings })}\n`);
  else
    for (const { what, is, detail } of findings)
      stdout.write(`${is === "well" ? "ok   " : "WRONG"} ${what}: ${detail}\n`);
}
