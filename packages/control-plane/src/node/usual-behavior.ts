import { controllerOf } from "@windlass/kinds";
import type { Container, Pod } from "@windlass/kinds/builtin";
import type { Stored } from "../storage/typed.ts";
import type { Behavior } from "./behavior.ts";

/**
 * What a container does whose behavior is not set: it runs, unless its pod is there to end. That
 * is the pod of a Job, and a pod without a controller that is not restarted and has a command, as
 * `helm test` and `kubectl run --restart=Never -- command` create them. A command that would go on
 * does: `sleep 30` for 30 seconds, `sleep infinity` indefinitely.
 */
export function usualBehavior(pod: Stored<Pod>, name: string | undefined): Behavior {
  const { command = [], args = [] } = containerOf(pod, name) ?? {};
  const words = [...command, ...args];
  if (!isThereToEnd(pod, words)) return { kind: "run" };
  const seconds = secondsOf(words.join(" "));
  if (seconds === Infinity) return { kind: "run" };
  return { kind: "succeed", ...(seconds === 0 ? {} : { afterMs: seconds * 1_000 }) };
}

function isThereToEnd(pod: Stored<Pod>, words: readonly string[]): boolean {
  const owner = controllerOf(pod);
  if (owner) return owner.kind === "Job";
  return pod.spec.restartPolicy === "Never" && words.length > 0;
}

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** How long a command goes on, as far as can be read from it: 0 where nothing is. */
function secondsOf(command: string): number {
  if (/\b(?:while (?:true|:)|tail -f|pause)\b/.test(command)) return Infinity;
  const [, amount = "", unit = ""] = /\bsleep (infinity|\d+(?:\.\d+)?)([smhd]?)\b/.exec(command) ?? [];
  if (amount === "infinity") return Infinity;
  return Number(amount) * (units[unit] ?? 1);
}

function containerOf(pod: Stored<Pod>, name: string | undefined): Container | undefined {
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return name === undefined ? all[0] : all.find((one) => one.name === name);
}
