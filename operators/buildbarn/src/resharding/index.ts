export {
  type Client,
  mapText,
  type Resharding,
  type ResultUse,
  reshardingPhases,
  type Seen,
  type ShardMap,
  type Step,
  shardMap,
  shardsOf,
  step,
} from "./state.ts";
