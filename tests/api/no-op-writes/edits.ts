/** A value in JSON that may be changed. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object that may be changed. */
export type JsonObject = { [key: string]: Json };

/** Chooses among so many, the same each time it is asked in the same order. */
export type Choose = (count: number) => number;

/** Choices from a list of numbers, around and around. */
export function chooseFrom(numbers: readonly number[]): Choose {
  let at = 0;
  return (count) => (count <= 0 ? 0 : (numbers[at++ % numbers.length] ?? 0) % count);
}

/** A part of the object, and how to put another value there. */
interface FieldLocation {
  readonly value: Json;
  set(value: Json | undefined): void;
}

const untouchable = new Set(["apiVersion", "kind", "status"]);
const metadataToEdit = ["labels", "annotations", "ownerReferences", "finalizers"];

/** Every part of an object that another hand may change. */
function placesOf(object: JsonObject): FieldLocation[] {
  const found: FieldLocation[] = [];
  const visit = (holder: JsonObject | Json[], key: string | number): void => {
    const value = (holder as JsonObject)[key] as Json;
    found.push({
      value,
      set(next) {
        if (next !== undefined) (holder as JsonObject)[key] = next;
        else if (Array.isArray(holder)) holder.splice(key as number, 1);
        else delete holder[key];
      },
    });
    if (Array.isArray(value)) for (const index of value.keys()) visit(value, index);
    else if (isObject(value)) for (const name of Object.keys(value)) visit(value, name);
  };
  for (const key of Object.keys(object)) if (key !== "metadata" && !untouchable.has(key)) visit(object, key);
  const { metadata } = object;
  if (isObject(metadata)) for (const key of metadataToEdit) if (key in metadata) visit(metadata, key);
  return found;
}

/** Changes one part of the object, as a person would who knows nothing of who owns it. */
export function edit(object: JsonObject, choose: Choose): JsonObject {
  const changed = structuredClone(object);
  const places = placesOf(changed);
  const place = places[choose(places.length)];
  if (!place) return changed;
  const { value } = place;
  if (Array.isArray(value)) editList(place, value, choose);
  else if (isObject(value)) editMap(place, value, choose);
  else editScalar(place, value, choose);
  return changed;
}

function editList(place: FieldLocation, list: Json[], choose: Choose): void {
  const at = choose(list.length);
  switch (choose(4)) {
    case 0:
      list.reverse();
      break;
    case 1:
      if (list.length > 0) list.push(...list.splice(at, 1));
      break;
    case 2:
      list.splice(at, 1);
      break;
    default: {
      const copy = list.length > 0 ? another(structuredClone(list[at] as Json)) : "extra";
      list.splice(choose(list.length + 1), 0, copy);
    }
  }
  if (list.length === 0 && choose(2) === 0) place.set(undefined);
}

function editMap(place: FieldLocation, map: JsonObject, choose: Choose): void {
  const keys = Object.keys(map);
  const key = keys[choose(keys.length)];
  switch (choose(3)) {
    case 0:
      if (key !== undefined) delete map[key];
      break;
    case 1:
      place.set(undefined);
      break;
    default:
      map.extra = key === undefined ? "extra" : another(structuredClone(map[key] as Json));
  }
}

function editScalar(place: FieldLocation, value: Json, choose: Choose): void {
  switch (choose(4)) {
    case 0:
      place.set(undefined);
      break;
    case 1:
      place.set(respelt(value));
      break;
    default:
      place.set(another(value));
  }
}

/**
 * Another form of the value, which means the same wherever there is one: a quantity, a number or a
 * text, a moment.
 */
function respelt(value: Json): Json {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return null;
  if (/^\d+$/.test(value)) return `${value}000m`;
  if (/^\d+m$/.test(value)) return `${Number(value.slice(0, -1)) / 1000}`;
  if (/^\d+Gi$/.test(value)) return `${Number(value.slice(0, -2)) * 1024}Mi`;
  return value.endsWith("Z") ? value.replace(/\.?0*Z$/, "Z") : "";
}

/** A value of the same type that is not the same. */
function another(value: Json): Json {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return /^\d+$/.test(value) ? `${value}1` : `${value}x`;
  if (Array.isArray(value)) return value.map(another);
  if (!isObject(value)) return "extra";
  const [first] = Object.keys(value);
  return first === undefined ? { extra: "extra" } : { ...value, [first]: another(value[first] as Json) };
}

/**
 * A part of what an object may have, as a user might apply it: some fields left out, some lists in
 * another order.
 */
export function thin(value: Json, choose: Choose, often = 6): Json {
  if (Array.isArray(value)) {
    const kept = value.filter(() => choose(often * 2) > 0).map((item) => thin(item, choose, often));
    return choose(4) === 0 ? kept.toReversed() : kept;
  }
  if (!isObject(value)) return choose(often * 2) === 0 ? another(value) : value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      choose(often) === 0 ? [] : [[key, thin(field, choose, often)] as const],
    ),
  );
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
