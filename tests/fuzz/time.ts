/**
 * Sends the embedded control plane the largest requests it takes, in every shape that some part of it goes through, and prints those that
 * hold up its event loop for too long: everybody else waits meanwhile.
 *
 *     node tests/fuzz/time.ts [--most MS] [--each] [PART]
 *
 * Only the CPU time of the server's thread counts, and the second of two runs: the first compiles code. PART runs the shapes whose names have
 * it; --each prints every request of theirs.
 */
import { parseArgs } from "node:util";
import { administrator, ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { longestTurn } from "../../packages/control-plane/src/longest-turn.fixture.ts";
import { type LargeRequest, shapes } from "./large-requests.ts";

const defaultAccount: LargeRequest = {
  method: "POST",
  url: "/api/v1/namespaces/default/serviceaccounts",
  body: { metadata: { name: "default" } },
};
const { values, positionals } = parseArgs({
  allowPositionals: true,
  // As long as nobody else notices.
  options: { most: { type: "string", default: "100" }, each: { type: "boolean", default: false } },
});
const mostMs = Number(values.most);
const [wanted = ""] = positionals;
let slow = 0;
for (const [name, make] of Object.entries(shapes).filter(([name]) => name.includes(wanted))) {
  await using plane = await ControlPlane.start({ controllers: "none", onPanic: () => undefined });
  const send = async ({ method, url, type = "application/json" }: LargeRequest, body: Buffer | undefined) => {
    const headers = { "content-type": type, accept: "application/json" };
    const signal = new AbortController().signal;
    const response = await plane.handle({ method, url, headers, body, peer: administrator, signal });
    return String(response.status);
  };
  // Without it, every pod is refused before anything looks at it.
  await send(defaultAccount, bytesOf(defaultAccount));
  let longest = 0;
  const statuses: string[] = [];
  for (const run of ["first", "second"]) {
    statuses.length = 0;
    for (const request of make(run)) {
      const body = bytesOf(request);
      const tookMs = await longestTurn(async () => statuses.push(await send(request, body)));
      if (run === "second" && values.each) {
        const size = body === undefined ? "" : `, ${body.length} bytes`;
        process.stdout.write(
          `    ${request.method} ${request.url.slice(0, 60)}: ${Math.round(tookMs)} ms${size}\n`,
        );
      }
      if (run === "second") longest = Math.max(longest, tookMs);
    }
  }
  const isSlow = longest > mostMs;
  if (isSlow) slow++;
  process.stdout.write(
    `${isSlow ? "SLOW " : ""}${name}: ${Math.round(longest)} ms (${[...new Set(statuses)].join(", ")})\n`,
  );
}
process.stdout.write(`${slow} shapes hold up the event loop for more than ${mostMs} ms\n`);
process.exitCode = slow === 0 ? 0 : 1;

function bytesOf({ body }: LargeRequest): Buffer | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
