import { fn, method, type Overload, SCAN } from "../functions.ts";
import { BOOL, INT, opaque, STRING } from "../types.ts";
import { CelError, Opaque } from "../values.ts";

const TYPE = opaque("kubernetes.Semver");
const STRICT =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** A semantic version. */
class Semver extends Opaque {
  readonly typeName = "kubernetes.Semver";
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];

  constructor(numbers: readonly bigint[], pre: readonly string[]) {
    super();
    this.numbers = numbers;
    this.pre = pre;
  }

  equals(other: Opaque): boolean {
    return other instanceof Semver && compare(this, other) === 0;
  }
}

function compare(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] as bigint;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (const [index, part] of a.pre.entries()) {
    const other = b.pre[index];
    if (other === undefined) return 1;
    if (part === other) continue;
    const isNumber = /^\d+$/.test(part);
    if (isNumber !== /^\d+$/.test(other)) return isNumber ? -1 : 1;
    if (isNumber) return BigInt(part) < BigInt(other) ? -1 : 1;
    return part < other ? -1 : 1;
  }
  return a.pre.length < b.pre.length ? -1 : 0;
}

function parse(text: string, normalise: boolean): Semver | undefined {
  let cleaned = text;
  if (normalise) {
    cleaned = text.replace(/^v/, "");
    const [core = "", ...rest] = cleaned.split(/(?=[-+])/);
    const parts = core.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
    while (parts.length < 3) parts.push("0");
    cleaned = parts.join(".") + rest.join("");
  }
  const match = STRICT.exec(cleaned);
  if (match === null) return undefined;
  return new Semver(match.slice(1, 4).map(BigInt), match[4] === undefined ? [] : match[4].split("."));
}

function semver(text: string, normalise: boolean): Semver {
  const parsed = parse(text, normalise);
  if (parsed === undefined) throw new CelError("No Major.Minor.Patch elements found");
  return parsed;
}

export const SEMVERS: readonly Overload[] = [
  fn("isSemver", [STRING], BOOL, (text: string) => parse(text, false) !== undefined, SCAN),
  fn(
    "isSemver",
    [STRING, BOOL],
    BOOL,
    (text: string, loose: boolean) => parse(text, loose) !== undefined,
    SCAN,
  ),
  fn("semver", [STRING], TYPE, (text: string) => semver(text, false), SCAN),
  fn("semver", [STRING, BOOL], TYPE, semver, SCAN),
  method("major", [TYPE], INT, (value: Semver) => value.numbers[0] as bigint),
  method("minor", [TYPE], INT, (value: Semver) => value.numbers[1] as bigint),
  method("patch", [TYPE], INT, (value: Semver) => value.numbers[2] as bigint),
  method("isLessThan", [TYPE, TYPE], BOOL, (a: Semver, b: Semver) => compare(a, b) < 0),
  method("isGreaterThan", [TYPE, TYPE], BOOL, (a: Semver, b: Semver) => compare(a, b) > 0),
  method("compareTo", [TYPE, TYPE], INT, (a: Semver, b: Semver) => BigInt(compare(a, b))),
];
