import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import { builtin, controllerContext, deleteIfPresent, stored } from "../../controllers/objects.ts";
import { objectsAt, timeAt } from "../../json-fields.ts";
import type { StoredObject } from "../../storage/store.ts";

const hour = 3_600_000;

/** Forgets events after an hour, as the real server's storage does. */
export function startEventExpiry(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { clock } = registry;
  const events = builtin(registry, "", "v1", "events");
  const context = controllerContext("event-expiry");
  /**
   * When each event was last seen as far as the queue knows, earliest first: one timer serves them
   * all.
   */
  const queue = new Map<string, number>();
  return startLoop(deps, {
    name: "event-expiry",
    watches: {
      [events.bucket]: ({ key, type, entry }) => {
        if (type === "DELETED") queue.delete(key);
        else if (!queue.has(key)) {
          queue.set(key, lastSeen(entry.object, clock.now()));
          // One timer, for the first of the queue, is enough.
          return queue.size === 1 ? ["first"] : [];
        }
        return [];
      },
    },
    reconcile: async () => {
      for (let next = queue.entries().next(); !next.done; next = queue.entries().next()) {
        const [key, noted] = next.value;
        const event = stored(registry, events, key);
        const seen = event ? lastSeen(event, clock.now()) : 0;
        const left = seen + hour - clock.now();
        if (left > 0 && seen === noted) return { requeueAfterMs: left };
        queue.delete(key);
        // Seen again in the meantime: its turn comes later.
        if (left > 0) queue.set(key, seen);
        else if (event) await deleteIfPresent(registry, events, event, context);
      }
      return undefined;
    },
  });
}

/**
 * When an event was last written. What it says of times itself is its author's business, and may be
 * long ago.
 */
function lastSeen(event: StoredObject, now: number): number {
  const written = objectsAt(event, "metadata", "managedFields").map((entry) => timeAt(entry, "time") ?? 0);
  return Math.max(timeAt(event, "metadata", "creationTimestamp") ?? now, ...written);
}
