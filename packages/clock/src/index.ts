export { type Clock, sleep, systemClock } from "./clock.ts";
export { ManualClock } from "./manual-clock.ts";
export { type Random, seededRandom, systemRandom, uuid } from "./random.ts";
