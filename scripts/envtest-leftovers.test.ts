import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { endLeftovers, runOf, runVariable } from "../tests/envtest/leftovers.ts";

/** Starts what goes on after its parent has ended, in a session of its own. @returns its id */
async function orphan(run: string): Promise<number> {
  const child = spawn("setsid", ["--fork", "sh", "-c", "echo $$; exec sleep 600 >/dev/null"], {
    env: { ...process.env, [runVariable]: run },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return Number(line);
}

/** One that was killed may stay as a zombie, where its parent does not collect it. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

test.runIf(process.platform === "linux")(
  "what a run has left behind is ended, also by the next one, and nothing else is",
  async () => {
    const own = await orphan(runOf(process.pid) ?? "");
    const ofOneThatIsGone = await orphan(`${process.pid}-1`);
    const ofOneThatGoesOn = await orphan(runOf(process.ppid) ?? "");
    try {
      const ended = endLeftovers();
      expect(ended).toContain(own);
      expect(ended).toContain(ofOneThatIsGone);
      expect(ended).not.toContain(ofOneThatGoesOn);
      await expect.poll(() => isRunning(own) || isRunning(ofOneThatIsGone)).toBe(false);
      expect(isRunning(ofOneThatGoesOn)).toBe(true);
    } finally {
      process.kill(ofOneThatGoesOn, "SIGKILL");
    }
  },
);
