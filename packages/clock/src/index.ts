export { type Clock, fasterClock, sleep, systemClock } from "./clock.ts";
export { type Duration, type DurationText, type DurationUnit, milliseconds } from "./duration.ts";
export { ManualClock } from "./manual-clock.ts";
export { type Random, seededRandom, systemRandom, uuid } from "./random.ts";
