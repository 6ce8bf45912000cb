import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Report } from "./full-disk.fixture.ts";

const program = fileURLToPath(new URL("./full-disk.fixture.ts", import.meta.url));
const asRoot = ["--user", "--map-root-user", "--mount"];
const canMount = spawnSync("unshare", [...asRoot, "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).status === 0;

test.runIf(canMount)(
  "on a full disk a write is refused and stays invisible, and with room again all goes on",
  { timeout: 60_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "full-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = 'mount -t tmpfs -o size=12m tmpfs "$0" && exec "$@"';
    const args = [...asRoot, "sh", "-c", script, folder, process.execPath, program, folder];
    const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
    expect(stderr).toBe("");
    const report = JSON.parse(stdout) as Report;
    const { created, refusal, versions } = report;
    expect(created.length).toBeGreaterThan(5);
    expect(refusal).toMatchObject({
      status: 500,
      body: { kind: "Status", message: `${join(folder, "state")}: the disk is full`, code: 500 },
    });
    expect(report.refusedRead).toBe(404);
    expect(versions.afterRefusal).toBe(versions.beforeRefusal);
    for (const seen of [report.listed, report.watched, report.afterRestart]) {
      expect(seen.toSorted()).toEqual(created.toSorted());
    }
    expect(versions.afterRestart).toBeGreaterThan(versions.afterRefusal);
    expect(report.panics).toEqual([]);
  },
);
