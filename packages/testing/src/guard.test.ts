import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { guard } from "./guard.ts";

/** A process that starts a program, guards it, and prints its id. */
const parent = `
  import { spawn } from "node:child_process";
  import { guard } from ${JSON.stringify(new URL("./guard.ts", import.meta.url).href)};
  const program = spawn("sleep", ["600"], { stdio: "ignore" });
  guard(program);
  process.stdout.write(String(program.pid));
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("a guarded program ends with the process that started it, even if that is killed", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", parent], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const pid = Number(said.toString());
  expect(isAlive(pid)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
});

test("a guard goes with its program: what has that number later is another's", async () => {
  const program = spawn(process.execPath, ["-e", ""]);
  const guarding = guard(program);
  const [[status], [, signal]] = await Promise.all([once(program, "exit"), once(guarding, "exit")]);
  expect([status, signal]).toEqual([0, "SIGKILL"]);
});
