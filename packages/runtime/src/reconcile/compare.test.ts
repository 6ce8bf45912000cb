import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical, deviations, extras, fingerprint, sameDeviations, shapeFingerprint } from "./compare.ts";

const json = () => fc.jsonValue({ maxDepth: 4 });
const dictionary = () => fc.dictionary(fc.string({ maxLength: 6 }), json(), { maxKeys: 5 });
const paths = (wanted: unknown, live: unknown) => [...deviations(wanted, live).keys()];

describe("deviations", () => {
  test("of anything from itself are none", () => {
    fc.assert(
      fc.property(json(), (value) => paths(value, structuredClone(value)).length === 0 || value === null),
    );
  });

  test("are none when the server has more fields than wanted", () => {
    fc.assert(
      fc.property(dictionary(), dictionary(), (wanted, more) => {
        fc.pre(Object.values(wanted).every((value) => value !== null));
        const live = { ...more, ...structuredClone(wanted) };
        expect(
          paths({ spec: wanted }, { spec: live, status: more }).filter((path) => !path.endsWith("[]")),
        ).toEqual(paths({ spec: wanted }, { spec: wanted }));
      }),
    );
  });

  test("name the field", () => {
    const wanted = {
      spec: {
        containers: [
          { name: "a", image: "x:1" },
          { name: "b", image: "y:1" },
        ],
      },
    };
    const live = {
      spec: {
        containers: [
          { name: "b", image: "y:2" },
          { name: "a", image: "x:1", pull: "Always" },
        ],
      },
    };
    expect([...deviations(wanted, live)]).toEqual([["spec.containers[b].image", '"y:2"']]);
  });

  test("notice that an item was added to a list, and what was", () => {
    expect([...deviations({ args: ["a"] }, { args: ["a", "b"] })]).toEqual([["args[]", "2"]]);
  });

  test("pair ports by number and protocol, filling in the default protocol", () => {
    const wanted = { ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }] };
    const live = {
      ports: [
        { containerPort: 53, protocol: "UDP" },
        { containerPort: 80, protocol: "TCP" },
      ],
    };
    expect(paths(wanted, live)).toEqual([]);
  });

  test("take empty for absent, since servers drop empty maps and lists", () => {
    expect(paths({ labels: {}, args: [], name: undefined }, {})).toEqual([]);
  });

  test("read quantities by value, and only where quantities are", () => {
    const requests = (cpu: string, memory: string) => ({ resources: { requests: { cpu, memory } } });
    expect(paths(requests("0.5", "1024Mi"), requests("500m", "1Gi"))).toEqual([]);
    expect(paths(requests("0.5", "1Gi"), requests("501m", "1Gi"))).toEqual(["resources.requests.cpu"]);
    expect(paths({ env: { value: "0.5" } }, { env: { value: "500m" } })).toEqual(["env.value"]);
  });

  test("never touch a prototype, whatever the keys", () => {
    const wanted = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"a": 1}}') as object;
    expect(paths(wanted, {})).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("are the same only if paths and values are", () => {
    const a = deviations({ x: 1, y: 2 }, { x: 3, y: 4 });
    expect(sameDeviations(a, deviations({ x: 1, y: 2 }, { x: 3, y: 4 }))).toBe(true);
    expect(sameDeviations(a, deviations({ x: 1, y: 2 }, { x: 3, y: 5 }))).toBe(false);
    expect(sameDeviations(a, deviations({ x: 1 }, { x: 3 }))).toBe(false);
  });
});

describe("fingerprints", () => {
  test("do not depend on the order of keys, nor on undefined fields", () => {
    fc.assert(
      fc.property(dictionary(), (value) => {
        const turned = Object.fromEntries([...Object.entries(value).toReversed(), ["never", undefined]]);
        expect(fingerprint(turned)).toBe(fingerprint(value));
      }),
    );
  });

  test("of shapes ignore values and notice fields", () => {
    expect(shapeFingerprint({ a: 1, b: { c: 2 } })).toBe(shapeFingerprint({ b: { c: 9 }, a: "x" }));
    expect(shapeFingerprint({ a: 1 })).not.toBe(shapeFingerprint({ a: 1, b: 2 }));
    const conditions = (...types: string[]) => ({
      conditions: types.map((type) => ({ type, status: "True" })),
    });
    expect(shapeFingerprint(conditions("A"))).not.toBe(shapeFingerprint(conditions("B")));
  });
});

test("extras are the fields that are there and not wanted, except conditions", () => {
  expect(extras({ a: 1, b: { c: 1 } }, { a: 2, b: { c: 1, d: 1 }, e: 1, conditions: [] })).toEqual([
    "b.d",
    "e",
  ]);
});

test("canonical JSON parses back to the same value", () => {
  fc.assert(
    fc.property(json(), (value) => {
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
