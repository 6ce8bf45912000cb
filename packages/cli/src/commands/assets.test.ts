import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBinaries } from "@windlass/testing";
import { expect, test } from "vitest";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";

test("the programs of the folder that it prints start an API server, as envtest starts the real ones", async () => {
  const cache = await mkdtemp(join(tmpdir(), "windlass-assets-"));
  try {
    const env = { PATH: process.env.PATH ?? "", XDG_CACHE_HOME: cache };
    const terminal = recordingTerminal({ env });
    expect(await runProgram(windlass, ["assets"], terminal)).toBe(0);
    const folder = terminal.said().trim();
    const server = await startBinaries(folder);
    await server.close();

    const json = recordingTerminal({ env });
    expect(await runProgram(windlass, ["assets", "--json"], json)).toBe(0);
    expect(JSON.parse(json.said())).toEqual({
      folder,
      programs: { etcd: join(folder, "etcd"), "kube-apiserver": join(folder, "kube-apiserver") },
    });
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}, 30_000);

test("a folder that cannot be made is explained, with what to do", async () => {
  const folder = await mkdtemp(join(tmpdir(), "windlass-assets-"));
  try {
    const cache = join(folder, "cache");
    await writeFile(cache, "");
    const terminal = recordingTerminal({ env: { PATH: process.env.PATH ?? "", XDG_CACHE_HOME: cache } });
    expect(await runProgram(windlass, ["assets"], terminal)).toBe(1);
    expect(terminal.complained()).toMatch(
      /^error: .*cache.* could not be made: .*; set XDG_CACHE_HOME to a folder that may be written\n$/,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 30_000);
