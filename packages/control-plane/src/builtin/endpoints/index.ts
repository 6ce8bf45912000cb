import type { KindDeclaration } from "../declaration.ts";
import { endpointSliceCells, endpointsCells } from "./columns.ts";
import { endpointSlice } from "./slice-strategy.ts";
import { endpoints } from "./strategy.ts";

export const endpointsKind = {
  group: "",
  kind: "Endpoints",
  strategy: endpoints,
  cells: endpointsCells,
  controllers: {
    "endpoints-controller": async () => (await import("./controller.ts")).startEndpoints,
  },
} satisfies KindDeclaration;

export const endpointSliceKind = {
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  strategy: endpointSlice,
  cells: endpointSliceCells,
  controllers: {
    "endpointslice-controller": async () => (await import("./controller.ts")).startEndpointSlices,
    "endpointslice-mirroring-controller": async () =>
      (await import("./mirroring.ts")).startEndpointSliceMirroring,
  },
} satisfies KindDeclaration;
