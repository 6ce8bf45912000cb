import fc from "fast-check";
import { expect, test } from "vitest";
import {
  canonicalQuantity,
  formatQuantity,
  parseQuantity,
  QuantityError,
  roundUpToMilli,
} from "./quantity.ts";

test.for([
  ["0.5", "500m"],
  ["1024Mi", "1Gi"],
  ["0.1Gi", "107374182400m"],
  ["1.5Gi", "1536Mi"],
  ["1000m", "1"],
  ["12e2", "1200"],
  ["0Ki", "0"],
  ["100Ei", "9223372036854775807"],
  ["1e40", "10e39"],
  ["0.1n", "1n"],
  ["0.50Mi", "512Ki"],
])("%s is written as %s", ([given, canonical]) => {
  expect(canonicalQuantity(given as string)).toBe(canonical);
});

test.for(["1.500", "007", "1.", "1E3", "1e+21", "1536Mi", "9223372036854775808"])(
  "%s is left as it was written",
  (given) => {
    expect(canonicalQuantity(given)).toBe(given);
  },
);

test.for(["", "..", "1Zi", "1 Gi", "1i", "1e", "1e3k", "x", "1e99999"])("%j is refused", (given) => {
  expect(() => parseQuantity(given)).toThrow(QuantityError);
});

test("amounts in a list of resources are rounded up to a thousandth", () => {
  expect(formatQuantity(roundUpToMilli(parseQuantity("0.1n")))).toBe("1m");
  expect(formatQuantity(roundUpToMilli(parseQuantity("-1u")))).toBe("-1m");
  expect(formatQuantity(roundUpToMilli(parseQuantity("2Gi")))).toBe("2Gi");
});

const numbers = fc.tuple(
  fc.constantFrom("", "-", "+"),
  fc.bigInt({ min: 0n, max: 10n ** 20n }),
  fc.option(fc.stringMatching(/^\d{1,12}$/), { nil: undefined }),
  fc.constantFrom(
    "",
    "n",
    "u",
    "m",
    "k",
    "M",
    "G",
    "T",
    "P",
    "E",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "e3",
    "E-4",
    "e+7",
  ),
);

test("writing keeps the amount, and what was written is written the same again", () => {
  fc.assert(
    fc.property(numbers, ([sign, whole, fraction, suffix]) => {
      const quantity = parseQuantity(
        `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${suffix}`,
      );
      const written = formatQuantity(quantity);
      // Beyond its last suffix Kubernetes writes a wrong amount.
      fc.pre(quantity.nanos < 10n ** 30n && quantity.nanos > -(10n ** 30n));
      expect(parseQuantity(written).nanos).toBe(quantity.nanos);
      expect(canonicalQuantity(written)).toBe(written);
    }),
  );
});

test("any other text is refused with an error of its own", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.eEKMGTPinumk]{1,12}$/)), (text) => {
      try {
        parseQuantity(text);
      } catch (error) {
        expect(error).toBeInstanceOf(QuantityError);
      }
    }),
  );
});
