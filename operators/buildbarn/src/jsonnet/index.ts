export { evaluate, type JsonnetInput } from "./evaluate.ts";
export { JsonnetError, type Location, locationText, UnsupportedJsonnetError } from "./location.ts";
export { type Json, type LocatedField, type LocatedJson, plain } from "./manifest.ts";
export { byCodePoint } from "./values.ts";
