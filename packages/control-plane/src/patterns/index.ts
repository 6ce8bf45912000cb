export { Matcher, MatchPending, Patterns } from "./matcher.ts";
export { PatternError } from "./pattern-error.ts";
