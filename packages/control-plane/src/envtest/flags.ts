/**
 * Which flags a program knows: those that take a value, and those that stand for true by
 * themselves.
 */
export interface KnownFlags {
  readonly values: readonly string[];
  readonly switches: readonly string[];
}

/** What was given for each flag, in the order it came. Flags that are not known are left out. */
export type GivenFlags = ReadonlyMap<string, readonly string[]>;

/**
 * Reads a command line as Go's programs do: `--name=value` and `--name value`, with one dash or
 * two. What is not known is ignored, with whatever follows it: a test suite may pass any flag that
 * the real program has.
 */
export function readFlags(args: readonly string[], { values, switches }: KnownFlags): GivenFlags {
  const given = new Map<string, string[]>();
  const add = (name: string, value: string) => {
    given.set(name, [...(given.get(name) ?? []), value]);
  };
  for (let index = 0; index < args.length; index++) {
    const [, name = "", value] = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(args[index] ?? "") ?? [];
    if (switches.includes(name)) add(name, value ?? "true");
    else if (!values.includes(name)) continue;
    else if (value !== undefined) add(name, value);
    else add(name, args[++index] ?? "");
  }
  return given;
}

/** The last value of a flag: later ones overrule. */
export function lastOf(flags: GivenFlags, name: string): string | undefined {
  const value = flags.get(name)?.at(-1);
  return value === "" ? undefined : value;
}

/** All values of a flag that may be given several times, or once with commas. */
export function listOf(flags: GivenFlags, name: string): readonly string[] {
  return (flags.get(name) ?? []).flatMap((value) => value.split(",")).filter((item) => item !== "");
}

/** Flags as Go prints them, which callers search for the ones they want to pass. */
export function flagHelp(program: string, { values, switches }: KnownFlags): string {
  const lines = [...values, ...switches]
    .sort()
    .map((name) => `      --${name}${switches.includes(name) ? "" : " string"}`);
  return `${program} of Windlass, for tests: flags that are not listed are ignored.\n\nUsage:\n  ${program} [flags]\n\nFlags:\n${lines.join("\n")}\n`;
}
