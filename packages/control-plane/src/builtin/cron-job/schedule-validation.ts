const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
  /** The number the first name stands for. */
  readonly first?: number;
}

const fields: readonly Bounds[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: months, first: 1 },
  { least: 0, most: 6, names: days, first: 0 },
];

const nicknames = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/**
 * What is wrong with a cron schedule, in the words of the parser that the real server uses;
 * undefined if nothing.
 */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule === "") return "empty spec string";
  if (schedule.startsWith("@")) return nicknameFault(schedule);
  const parts = schedule.split(/\s+/).filter((part) => part !== "");
  if (parts.length !== 5) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`;
  for (const [index, part] of parts.entries()) {
    for (const range of part.split(",").filter((one) => one !== "")) {
      const fault = rangeFault(range, fields[index] as Bounds);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function nicknameFault(schedule: string): string | undefined {
  if (nicknames.has(schedule)) return undefined;
  const every = "@every ";
  if (!schedule.startsWith(every)) return `unrecognized descriptor: ${schedule}`;
  const duration = schedule.slice(every.length);
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/.test(
    duration,
  )
    ? undefined
    : `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(duration)}`;
}

function rangeFault(text: string, bounds: Bounds): string | undefined {
  const steps = text.split("/");
  if (steps.length > 2) return `too many slashes: ${text}`;
  const [span = "", stepText] = steps;
  const ends = span.split("-");
  let [low, high] = [bounds.least, bounds.most];
  if (ends[0] === "*" || ends[0] === "?") {
    if (ends.length > 1) return `too many hyphens: ${text}`;
  } else {
    const start = numberIn(ends[0] ?? "", bounds);
    if (typeof start === "string") return start;
    low = start;
    high = start;
    if (ends.length === 2) {
      const end = numberIn(ends[1] ?? "", bounds);
      if (typeof end === "string") return end;
      high = end;
    } else if (ends.length > 2) return `too many hyphens: ${text}`;
    if (stepText !== undefined && ends.length === 1) high = bounds.most;
  }
  const step = stepText === undefined ? 1 : numberIn(stepText, { least: 0, most: 0 });
  if (typeof step === "string") return step;
  if (low < bounds.least) return `beginning of range (${low}) below minimum (${bounds.least}): ${text}`;
  if (high > bounds.most) return `end of range (${high}) above maximum (${bounds.most}): ${text}`;
  if (low > high) return `beginning of range (${low}) beyond end of range (${high}): ${text}`;
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

function numberIn(text: string, { names, first = 0 }: Bounds): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + first;
  if (/^-\d+$/.test(text)) return `negative number (${text}) not allowed: ${text}`;
  if (/^\d+$/.test(text)) return Number(text);
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}
