/**
 * Label values by label name. Names must be the ones the metric was made with. Those that are
 * frozen are read once: for what is counted often.
 */
export type Labels = Readonly<Record<string, string>>;

/**
 * The labels of one series, as an argument: all of the metric's names, and no others. Where the
 * names are not known to the compiler, any.
 */
export type SeriesLabels<Name extends string> = string extends Name
  ? [labels?: Labels]
  : [Name] extends [never]
    ? [labels?: Readonly<Record<string, never>>]
    : [labels: Readonly<Record<Name, string>>];

/** A number that only grows. */
export interface Counter<Name extends string = string> {
  /** @throws RangeError for a negative amount. */
  inc(...given: [...labels: SeriesLabels<Name>, amount?: number]): void;
  /** The current value; 0 for a series never touched. */
  value(...labels: SeriesLabels<Name>): number;
}

/** A number that goes up and down. */
export interface Gauge<Name extends string = string> {
  set(value: number, ...labels: SeriesLabels<Name>): void;
  add(amount: number, ...labels: SeriesLabels<Name>): void;
  value(...labels: SeriesLabels<Name>): number;
  /** Forgets one series, e.g. when the thing it measures was removed. */
  remove(...labels: SeriesLabels<Name>): void;
  /**
   * Calls `sample` before each rendering, for values that are cheaper to ask for than to keep.
   * Returns the way to stop.
   */
  collect(sample: (gauge: Gauge<Name>) => void): () => void;
}

/** A distribution in cumulative buckets. */
export interface Histogram<Name extends string = string> {
  observe(value: number, ...labels: SeriesLabels<Name>): void;
  /** How many values were observed. */
  count(...labels: SeriesLabels<Name>): number;
  /** Makes the series appear with zeros, so that rates work from the first scrape. */
  zero(...labels: SeriesLabels<Name>): void;
}

/** How a metric is made. */
export interface MetricOptions<Name extends string = string> {
  readonly name: string;
  readonly help: string;
  /**
   * What distinguishes its series: the compiler asks for all of them with each value.
   *
   * @default none
   */
  readonly labels?: readonly Name[];
}

/** How a histogram is made. */
export interface HistogramOptions<Name extends string = string> extends MetricOptions<Name> {
  /** Upper bounds, ascending, without the infinite one. */
  readonly buckets: readonly number[];
}

/** What a metric is, without its values. */
export interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

interface Family extends MetricDescription {
  readonly metric: Counter | Gauge | Histogram;
  render(lines: string[]): void;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * The metrics of one manager, rendered in the Prometheus text format. Asking twice for the same
 * name gives the same metric, so several controllers share their families. A registry belongs to
 * its manager: two managers in a process do not mix.
 */
export class Registry {
  readonly #families = new Map<string, Family>();

  /** A counter. Its labels are checked by the compiler where their names are written out. */
  counter<Name extends string = never>(options: MetricOptions<Name>): Counter<Name>;
  counter(options: MetricOptions): Counter {
    return this.#family(options, "counter", () => makeCounter(options)) as Counter;
  }

  /** A gauge, whose labels are checked in the same way. */
  gauge<Name extends string = never>(options: MetricOptions<Name>): Gauge<Name>;
  gauge(options: MetricOptions): Gauge {
    return this.#family(options, "gauge", () => makeGauge(options)) as Gauge;
  }

  /** A histogram, whose labels are checked in the same way. */
  histogram<Name extends string = never>(options: HistogramOptions<Name>): Histogram<Name>;
  histogram(options: HistogramOptions): Histogram {
    return this.#family(options, "histogram", () => makeHistogram(options)) as Histogram;
  }

  /** What is measured, in the order it was registered. */
  describe(): readonly MetricDescription[] {
    return [...this.#families.values()].map(({ name, type, help, labels }) => ({ name, type, help, labels }));
  }

  /** Everything, as `text/plain; version=0.0.4`. */
  render(): string {
    const lines: string[] = [];
    for (const [name, family] of this.#families) {
      lines.push(`# HELP ${name} ${escapeHelp(family.help)}`, `# TYPE ${name} ${family.type}`);
      family.render(lines);
    }
    return `${lines.join("\n")}\n`;
  }

  #family(
    options: MetricOptions,
    type: Family["type"],
    make: () => { metric: Family["metric"]; render: Family["render"] },
  ): Family["metric"] {
    const known = this.#families.get(options.name);
    if (known) {
      if (known.type !== type)
        throw new TypeError(`metric ${options.name} is already registered as a ${known.type}, not a ${type}`);
      return known.metric;
    }
    if (!metricName.test(options.name)) throw new TypeError(`"${options.name}" is not a metric name`);
    for (const label of options.labels ?? [])
      if (!labelName.test(label))
        throw new TypeError(`"${label}" is not a label name (metric ${options.name})`);
    const { name, help, labels = [] } = options;
    const family: Family = { name, type, help, labels, ...make() };
    this.#families.set(options.name, family);
    return family.metric;
  }
}

/** The media type that `Registry.render` produces. */
export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * What names a series: its rendered label pairs, `a="1",b="2"`; empty for a metric without labels.
 */
function labelText(options: MetricOptions, labels: Labels | undefined): string {
  const names = options.labels ?? [];
  let given = 0;
  let text = "";
  for (const name of names) {
    const value = labels?.[name];
    if (value === undefined) throw new TypeError(`metric ${options.name}: label "${name}" is missing`);
    given += 1;
    text += `${text === "" ? "" : ","}${name}="${escapeLabel(value)}"`;
  }
  if (labels && Object.keys(labels).length !== given) {
    const unknown = Object.keys(labels).filter((name) => !names.includes(name));
    throw new TypeError(`metric ${options.name} has no label "${unknown.join('", "')}"`);
  }
  return text;
}

/** How many frozen labels a metric knows by sight: more than there are controllers. */
const MOST_KNOWN = 256;

/** The series of one metric. */
class SeriesOf<S> implements Iterable<[labels: string, series: S]> {
  readonly #options: MetricOptions;
  readonly #make: () => S;
  readonly #byText = new Map<string, S>();
  /** Those of frozen labels, which need not be read again. */
  readonly #known = new Map<Labels, S>();

  constructor(options: MetricOptions, make: () => S) {
    this.#options = options;
    this.#make = make;
  }

  /** The series of these labels, from now on if not before. */
  at(labels: Labels | undefined): S {
    const known = labels && this.#known.get(labels);
    if (known) return known;
    const text = labelText(this.#options, labels);
    let series = this.#byText.get(text);
    if (!series) {
      series = this.#make();
      this.#byText.set(text, series);
    }
    if (labels && Object.isFrozen(labels)) {
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(labels, series);
    }
    return series;
  }

  find(labels: Labels | undefined): S | undefined {
    return this.#byText.get(labelText(this.#options, labels));
  }

  remove(labels: Labels | undefined): void {
    this.#byText.delete(labelText(this.#options, labels));
    this.#known.clear();
  }

  [Symbol.iterator](): IterableIterator<[string, S]> {
    return this.#byText.entries();
  }
}

/** The value of a counter's or a gauge's series. */
interface Cell {
  value: number;
}

function cellsOf(options: MetricOptions): SeriesOf<Cell> {
  const cells = new SeriesOf<Cell>(options, () => ({ value: 0 }));
  if (!options.labels?.length) cells.at(undefined);
  return cells;
}

function makeCounter(options: MetricOptions) {
  const cells = cellsOf(options);
  const metric: Counter = {
    inc(labels, amount = 1) {
      if (!(amount >= 0)) throw new RangeError(`counter ${options.name} cannot change by ${amount}`);
      cells.at(labels).value += amount;
    },
    value: (labels) => cells.find(labels)?.value ?? 0,
  };
  return { metric, render: (lines: string[]) => renderCells(options.name, cells, lines) };
}

function makeGauge(options: MetricOptions) {
  const cells = cellsOf(options);
  const samplers = new Set<(gauge: Gauge) => void>();
  const metric: Gauge = {
    set(value, labels) {
      cells.at(labels).value = value;
    },
    add(amount, labels) {
      cells.at(labels).value += amount;
    },
    value: (labels) => cells.find(labels)?.value ?? 0,
    remove: (labels) => cells.remove(labels),
    collect(sample) {
      samplers.add(sample);
      return () => void samplers.delete(sample);
    },
  };
  const render = (lines: string[]) => {
    for (const sample of samplers) sample(metric);
    renderCells(options.name, cells, lines);
  };
  return { metric, render };
}

function makeHistogram(options: HistogramOptions) {
  const series = new SeriesOf(options, () => ({ buckets: options.buckets.map(() => 0), sum: 0, count: 0 }));
  const metric: Histogram = {
    observe(value, labels) {
      const one = series.at(labels);
      const bucket = bucketOf(options.buckets, value);
      if (bucket < one.buckets.length) one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
      one.sum += value;
      one.count += 1;
    },
    count: (labels) => series.find(labels)?.count ?? 0,
    zero: (labels) => void series.at(labels),
  };
  const render = (lines: string[]) => {
    for (const [labels, one] of series) {
      const prefix = labels === "" ? "" : `${labels},`;
      let cumulative = 0;
      for (const [index, bound] of options.buckets.entries()) {
        cumulative += one.buckets[index] ?? 0;
        lines.push(`${options.name}_bucket{${prefix}le="${formatNumber(bound)}"} ${cumulative}`);
      }
      lines.push(`${options.name}_bucket{${prefix}le="+Inf"} ${one.count}`);
      const suffix = labels === "" ? "" : `{${labels}}`;
      lines.push(
        `${options.name}_sum${suffix} ${formatNumber(one.sum)}`,
        `${options.name}_count${suffix} ${one.count}`,
      );
    }
  };
  return { metric, render };
}

/** The first bucket that a value fits into; beyond the last if only the infinite one does. */
function bucketOf(bounds: readonly number[], value: number): number {
  let bucket = 0;
  while (bucket < bounds.length && !(value <= (bounds[bucket] as number))) bucket += 1;
  return bucket;
}

function renderCells(name: string, cells: Iterable<[string, Cell]>, lines: string[]): void {
  for (const [labels, { value }] of cells)
    lines.push(`${name}${labels === "" ? "" : `{${labels}}`} ${formatNumber(value)}`);
}

function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function escapeLabel(value: string): string {
  return /[\\"\n]/.test(value)
    ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
    : value;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
