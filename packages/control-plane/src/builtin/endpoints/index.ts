import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { endpointSliceCells, endpointsCells } from "./columns.ts";
import { startEndpointSlices, startEndpoints } from "./controller.ts";
import { startEndpointSliceMirroring } from "./mirroring.ts";
import { endpointSlice } from "./slice-strategy.ts";
import { endpoints } from "./strategy.ts";

export const endpointsKind = {
  group: "",
  kind: "Endpoints",
  strategy: endpoints,
  cells: cellsOf(endpointsCells),
  controllers: {
    "endpoints-controller": startEndpoints,
  },
} satisfies KindDeclaration;

export const endpointSliceKind = {
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  strategy: endpointSlice,
  cells: cellsOf(endpointSliceCells),
  controllers: {
    "endpointslice-controller": startEndpointSlices,
    "endpointslice-mirroring-controller": startEndpointSliceMirroring,
  },
} satisfies KindDeclaration;
