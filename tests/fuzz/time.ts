/**
 * Sends the embedded control plane the largest requests it takes, in every shape that some part of
 * it goes through, and requests over many objects, and prints those that hold up its event loop for
 * too long: everybody else waits meanwhile.
 *
 *     node tests/fuzz/time.ts [--most MS] [--each] [PART]
 *
 * Only the CPU time of the server's thread counts, and the second of two runs: the first compiles
 * code. PART runs the shapes whose names have it; --each prints every request of theirs. What all
 * of them took is kept in time-result.json.
 */
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { administrator } from "../../packages/control-plane/src/authority.ts";
import { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { longestTurn } from "../../packages/control-plane/src/longest-turn.fixture.ts";
import { type LargeRequest, shapes } from "./large-requests.ts";
import { measure, scenes } from "./many-objects.ts";

const defaultAccount: LargeRequest = {
  method: "POST",
  url: "/api/v1/namespaces/default/serviceaccounts",
  body: { metadata: { name: "default" } },
};
const { values, positionals } = parseArgs({
  allowPositionals: true,
  // As long as no other request is affected.
  options: { most: { type: "string", default: "100" }, each: { type: "boolean", default: false } },
});
const mostMs = Number(values.most);
const [wanted = ""] = positionals;
const took = new Map<string, number>();

function report(name: string, longestMs: number, how: string): void {
  took.set(name, Math.round(longestMs));
  const slow = longestMs > mostMs ? "SLOW " : "";
  process.stdout.write(`${slow}${name}: ${Math.round(longestMs)} ms (${how})\n`);
}

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
  report(name, longest, [...new Set(statuses)].join(", "));
}

for (const [name, scene] of Object.entries(scenes).filter(([name]) => name.includes(wanted))) {
  for (const run of ["first", "second"]) {
    await using plane = await ControlPlane.start({ controllers: scene.controllers });
    const { longestMs, parts } = await measure(scene, plane);
    if (run === "first") continue;
    if (values.each) for (const { what, ms } of parts) process.stdout.write(`    ${what}: ${ms} ms\n`);
    report(name, longestMs, `controllers: ${scene.controllers}`);
  }
}
const slow = [...took].filter(([, ms]) => ms > mostMs);
process.stdout.write(
  `${slow.length} of ${took.size} shapes hold up the event loop for more than ${mostMs} ms\n`,
);
if (wanted === "") {
  const longestTurnMs = Object.fromEntries(took);
  const kept = join(import.meta.dirname, "time-result.json");
  const load = loadavg().map((one) => Math.round(one * 10) / 10);
  await writeFile(kept, `${JSON.stringify({ load, longestTurnMs }, undefined, 2)}\n`);
}
process.exitCode = slow.length === 0 && took.size > 0 ? 0 : 1;

function bytesOf({ body }: LargeRequest): Buffer | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
