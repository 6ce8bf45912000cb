import { type ManagerOptions, manager } from "@windlass/runtime";
import { greeting } from "./greeting.ts";

export function operator(options: ManagerOptions = {}) {
  return manager({ leaderElection: { name: "greeting-operator", namespace: "default" }, ...options })
    .add(greeting)
    .add({
      name: "report",
      stage: "everywhere",
      start: ({ log, isLeading }) => log.info({ leading: isLeading() }, "this replica is up"),
    });
}
