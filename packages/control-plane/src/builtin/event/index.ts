import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { eventCells } from "./columns.ts";
import { startEventExpiry } from "./controller.ts";
import { event, modernEvent } from "./strategy.ts";
import { eventFromStored, eventToStored } from "./views.ts";

export const eventKind = {
  group: "",
  kind: "Event",
  strategy: event,
  cells: cellsOf(eventCells),
  controllers: {
    "event-expiry": startEventExpiry,
  },
} satisfies KindDeclaration;

export const modernEventKind = {
  group: "events.k8s.io",
  kind: "Event",
  strategy: modernEvent,
  cells: cellsOf(eventCells),
  versions: {
    v1: {
      storedAs: {
        bucket: "events",
        stored: { group: "", version: "v1", kind: "Event" },
        fromStorage: eventFromStored,
        toStorage: eventToStored,
      },
    },
  },
} satisfies KindDeclaration;
