/** A sample of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const escaped: Readonly<Record<string, string>> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

/** Reads Prometheus' text format. Comments and lines that are none of it are passed over. */
export function readSamples(text: string): readonly Sample[] {
  return text.split("\n").flatMap((one) => {
    const [, name, labels = "", value = ""] = line.exec(one) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(label)].map(([, key = "", raw = ""]) => [
      key,
      raw.replaceAll(/\\[n"\\]/g, (sequence) => escaped[sequence] ?? sequence),
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: numberOf(value) }];
  });
}

/** The sum of the samples of a metric that have these labels. */
export function total(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels);
  return samples
    .filter((one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

function numberOf(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
