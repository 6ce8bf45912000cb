import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical, fingerprint, plainJson } from "./json.ts";

const json = () => fc.jsonValue({ maxDepth: 4 });
const dictionary = () => fc.dictionary(fc.string({ maxLength: 6 }), json(), { maxKeys: 5 });

describe("plain JSON", () => {
  test("of a value is what would be sent", () => {
    fc.assert(
      fc.property(json(), (value) => {
        expect(JSON.stringify(plainJson(value, ""))).toBe(JSON.stringify(value));
      }),
    );
    const sent = { at: new Date(0), left: undefined, list: [undefined, new Date(1)], own: new Own() };
    expect(JSON.stringify(plainJson(sent, ""))).toBe(JSON.stringify(sent));
  });

  test.for([
    [new Map([["a", 1]]), "a Map"],
    [new Set([1]), "a Set"],
    [new Date(Number.NaN), "an invalid Date"],
    [Buffer.from("x"), "binary data"],
    [new Uint8Array(1), "binary data"],
    [Number.NaN, "the number NaN"],
    [Number.POSITIVE_INFINITY, "the number Infinity"],
    [1n, "a bigint"],
    [() => 1, "a function"],
    [Symbol("x"), "a symbol"],
    [Promise.resolve(), "a Promise"],
    [/x/, "a RegExp"],
  ] as [unknown, string][])("of %s is none, and the field is named", ([value, what]) => {
    expect(() => plainJson({ spec: { list: [{ value }] } }, "")).toThrow(
      `spec.list[0].value is ${what}, which JSON cannot hold; `,
    );
  });

  test("is what the server stores: half a character is none", () => {
    const cut = "a 😀".slice(0, 3);
    expect(plainJson({ cut, list: [cut], whole: "a 😀" }, "")).toEqual({
      cut: "a \u{fffd}",
      list: ["a \u{fffd}"],
      whole: "a 😀",
    });
  });

  test("refuses what contains itself, and says where", () => {
    const circle: Record<string, unknown> = { labels: {} };
    circle.labels = [circle];
    expect(() => plainJson(circle, "data")).toThrow(
      /^data\.labels\[0\]\.labels\[0\].* is nested more than 500 levels deep, which JSON cannot hold; does it contain itself\?$/,
    );
    const endless = { toJSON: () => endless };
    expect(() => plainJson(endless, "data")).toThrow(/does it contain itself/);
  });

  test("does not touch a prototype, whatever the keys", () => {
    const plain = plainJson(JSON.parse('{"__proto__": {"polluted": true}}'), "");
    expect(JSON.stringify(plain)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test("a fingerprint does not depend on the order of keys, nor on undefined fields", () => {
  fc.assert(
    fc.property(dictionary(), (value) => {
      const turned = Object.fromEntries([...Object.entries(value).toReversed(), ["never", undefined]]);
      expect(fingerprint(turned)).toBe(fingerprint(value));
    }),
  );
});

test("canonical JSON parses back to the same value", () => {
  fc.assert(
    fc.property(json(), (value) => {
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

class Own {
  readonly field = 1;
  toJSON() {
    return { field: this.field };
  }
}
