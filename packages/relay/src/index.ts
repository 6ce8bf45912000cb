export { type DrainOptions, type DrainResult, RelayGroup } from "./group.ts";
export { type Relay, type RelayEnd, type RelayOptions, relay } from "./relay.ts";
export type { Outcome, Side } from "./state.ts";
