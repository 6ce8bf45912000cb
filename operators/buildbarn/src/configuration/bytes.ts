const units: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/**
 * The bytes in an amount such as `33Gi`.
 *
 * @throws RangeError for text that no schema lets through.
 */
export function bytes(amount: string): number {
  const [, digits = "", unit = ""] = /^([0-9]+(?:[.][0-9]+)?)([kKMGTP]i?)?$/.exec(amount) ?? [];
  const factor = digits === "" ? undefined : units[unit];
  if (factor === undefined) throw new RangeError(`${JSON.stringify(amount)} is no amount of bytes`);
  return Number(digits) * factor;
}
