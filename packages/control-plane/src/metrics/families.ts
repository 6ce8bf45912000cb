/** What a family of metrics is, without its values. */
export interface Description {
  readonly name: string;
  readonly help: string;
  /** @default none */
  readonly labels?: readonly string[];
}

/** A number of one series: a counter's, or a gauge's. */
export class Value {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** A distribution in cumulative buckets. */
export class Distribution {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] as number)) index++;
    this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += value;
  }

  /** @param labels as they stand between braces, without them */
  render(name: string, labels: string): string {
    const lines: string[] = [];
    const before = labels === "" ? "" : `${labels},`;
    let count = 0;
    for (const [index, own] of this.#counts.entries()) {
      count += own;
      lines.push(`${name}_bucket{${before}le="${goNumber(this.#bounds[index] ?? Infinity)}"} ${count}\n`);
    }
    lines.push(`${name}_sum${braced(labels)} ${this.#sum}\n`, `${name}_count${braced(labels)} ${count}\n`);
    return lines.join("");
  }
}

/** Something that `/metrics` shows. */
export interface Rendered {
  render(): string;
}

/** The series of a metric, distinguished by their label values. */
export class Family<S> implements Rendered {
  readonly #description: Description;
  readonly #make: () => S;
  readonly #show: (name: string, labels: string, series: S) => string;
  readonly #type: string;
  readonly #series = new Map<string, { readonly labels: string; readonly series: S }>();

  constructor(
    type: "counter" | "gauge" | "histogram",
    description: Description,
    make: () => S,
    show: (name: string, labels: string, series: S) => string,
  ) {
    this.#type = type;
    this.#description = description;
    this.#make = make;
    this.#show = show;
  }

  /** The series of these values, in the order of the labels. Made when it is first asked for. */
  of(...values: string[]): S {
    const key = values.join("\0");
    let found = this.#series.get(key);
    if (!found) {
      const { labels = [] } = this.#description;
      const shown = labels.map((label, index) => `${label}="${escaped(values[index] ?? "")}"`).join(",");
      found = { labels: shown, series: this.#make() };
      this.#series.set(key, found);
    }
    return found.series;
  }

  /** Forgets all series: for what is collected again each time. */
  clear(): void {
    this.#series.clear();
  }

  /** In the Prometheus text format. Nothing for a family without series, as in Go. */
  render(): string {
    if (this.#series.size === 0) return "";
    const { name, help } = this.#description;
    const lines = [...this.#series.values()].map(({ labels, series }) => this.#show(name, labels, series));
    const head = `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n`;
    return `${head}# TYPE ${name} ${this.#type}\n${lines.sort().join("")}`;
  }
}

const showValue = (name: string, labels: string, { value }: Value) =>
  `${name}${braced(labels)} ${goNumber(value)}\n`;

export function counter(description: Description): Family<Value> {
  return new Family("counter", description, () => new Value(), showValue);
}

export function gauge(description: Description): Family<Value> {
  return new Family("gauge", description, () => new Value(), showValue);
}

/** @param bounds upper ones, ascending, without the infinite one */
export function histogram(description: Description, bounds: readonly number[]): Family<Distribution> {
  return new Family(
    "histogram",
    description,
    () => new Distribution(bounds),
    (name, labels, distribution) => distribution.render(name, labels),
  );
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** As Go writes numbers: with an exponent of two digits, from 1e+06 on where few digits count. */
function goNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  const short = value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return value !== 0 &&
    (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e21 || (value >= 1e6 && short.length <= 5))
    ? short
    : String(value);
}
