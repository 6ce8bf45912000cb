/** How many arguments each function takes that the programs know. */
const counts: Readonly<Record<string, number | "at least 1">> = {
  abs: 1,
  avg: 1,
  ceil: 1,
  contains: 2,
  ends_with: 2,
  floor: 1,
  join: 2,
  keys: 1,
  length: 1,
  map: 2,
  max: 1,
  max_by: 2,
  merge: "at least 1",
  min: 1,
  min_by: 2,
  not_null: "at least 1",
  reverse: 1,
  sort: 1,
  sort_by: 2,
  starts_with: 2,
  sum: 1,
  to_array: 1,
  to_number: 1,
  to_string: 1,
  type: 1,
  values: 1,
};

/** What is wrong with a call of a function, or undefined. */
export function callFault(name: string, given: number): string | undefined {
  const count = Object.hasOwn(counts, name) ? counts[name] : undefined;
  if (count === undefined) return `there is no function ${name}; there are ${Object.keys(counts).join(", ")}`;
  if (count === "at least 1" ? given >= 1 : given === count) return undefined;
  return `${name} takes ${count} ${count === 2 ? "arguments" : "argument"}, not ${given}`;
}
