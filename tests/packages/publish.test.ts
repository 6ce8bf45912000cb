import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { publishable, publishTarballs } from "../../scripts/packaging/publishing.ts";

const run = promisify(execFile);
/** A registry on loopback, with what has been published there. */
const published = new Map<string, Record<string, object>>();
const tags = new Map<string, readonly string[]>();
/** Names that it refuses for now, as a registry that has trouble does. */
const failing = new Set<string>();
const asked: string[] = [];
let server: Server;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  published.clear();
  failing.clear();
  asked.length = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const name = decodeURIComponent(request.url ?? "").slice(1);
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    asked.push(`${request.method} ${name}`);
    if (request.method === "PUT") {
      const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as Packument;
      if (failing.has(name)) return answer(500, { error: "out of order" });
      published.set(name, { ...published.get(name), ...body.versions });
      tags.set(name, Object.keys(body["dist-tags"]));
      return answer(201, { ok: true });
    }
    const versions = published.get(name);
    if (versions === undefined) return answer(404, { error: "not_found" });
    return answer(200, { name, versions, "dist-tags": { latest: Object.keys(versions).at(-1) } });
  };
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), "windlass-publish-"));
  await writeFile(
    join(folder, "npmrc"),
    `registry=http://${place}/\n//${place}/:_authToken=secret\nfetch-retries=0\n`,
  );
  const { PATH } = process.env;
  env = {
    ...(PATH === undefined ? {} : { PATH }),
    HOME: folder,
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_cache: join(folder, "cache"),
  };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

interface Packument {
  readonly versions: Record<string, object>;
  readonly "dist-tags": object;
}

/** Publishes all tarballs. @returns what was said */
async function publish(...args: readonly string[]): Promise<readonly string[]> {
  const said: string[] = [];
  const all = await Promise.all(inject("tarballs").map(({ file }) => publishable(file)));
  await publishTarballs(all, { args, env, say: (line) => said.push(line) });
  return said;
}

const names = () => inject("tarballs").map(({ name }) => name);

test("npm would publish each tarball, and publishes none when it only tries", async () => {
  const said = await publish("--dry-run");
  expect(said.toSorted()).toEqual(
    inject("tarballs")
      .map(({ name, version }) => `${name}@${version} could be published`)
      .toSorted(),
  );
  expect(published.size).toBe(0);
});

test("a run that failed in the middle can be repeated, and what was published has its dependencies", async () => {
  failing.add("@windlass/runtime");
  await expect(publish()).rejects.toThrow("npm publish");
  expect([...published.keys()]).toContain("@windlass/client");
  for (const name of ["@windlass/runtime", "@windlass/testing", "@windlass/cli"])
    expect([...published.keys()]).not.toContain(name);

  failing.clear();
  const said = await publish();
  expect(said).toContainEqual(expect.stringMatching(/^@windlass\/client@\S+ is published already$/));
  expect([...published.keys()].toSorted()).toEqual(names().toSorted());
  const puts = asked.filter((one) => one.startsWith("PUT"));
  expect(puts).toHaveLength(names().length + 1);

  expect(await publish()).toHaveLength(names().length);
  expect(asked.filter((one) => one.startsWith("PUT"))).toHaveLength(puts.length);
});

test("a prerelease is not what everybody gets", async () => {
  const early = join(folder, "early");
  await mkdir(early);
  await writeFile(join(early, "package.json"), JSON.stringify({ name: "early", version: "1.0.0-rc.1" }));
  await run("npm", ["pack", "--pack-destination", folder], { cwd: early, env });
  const tarball = await publishable(join(folder, "early-1.0.0-rc.1.tgz"));
  await publishTarballs([tarball], { env, say: () => undefined });
  expect(tags.get("early")).toEqual(["next"]);
});

test("a registry that cannot be asked is an error, not a reason to publish", async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await expect(publish()).rejects.toThrow("could not be asked");
});
