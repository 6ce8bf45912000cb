const factors: Readonly<Record<string, number>> = {
  "": 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number that a Kubernetes quantity stands for; undefined for text that is not a quantity. */
export function quantityOf(quantity: string | number): number | undefined {
  if (typeof quantity === "number") return quantity;
  const found = /^([+-]?[0-9.]+)([eE][+-]?[0-9]+)?([A-Za-z]*)$/.exec(quantity);
  const factor = factors[found?.[3] ?? ""];
  const number = Number(`${found?.[1]}${found?.[2] ?? ""}`);
  return found && factor !== undefined && Number.isFinite(number) ? number * factor : undefined;
}
