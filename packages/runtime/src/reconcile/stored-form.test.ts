import { expect, test } from "vitest";
import { isAdmittedForm, isStoredForm, isStoredFormOrEmpty } from "./stored-form.ts";

test.for([
  ["0.5", "500m"],
  ["1024Mi", "1Gi"],
  ["1000m", "1"],
  [2, "2"],
  ["1.5Gi", "1536Mi"],
  ["1500Mi", "1500Mi"],
  ["0.1Ki", "102400m"],
  ["1000", "1k"],
  ["10e2", "1e3"],
  ["-0.5", "-500m"],
  ["0.0000000001", "1n"],
  ["0.0001", "1m"],
  ["9223372036854775807000m", "9223372036854775807"],
  [{ cpu: "0.5" }, { cpu: "500m" }],
  [{}, { type: "RollingUpdate" }],
  ["", "Always"],
  [null, { any: "thing" }],
  [[{ port: 80 }], [{ port: 80, protocol: "TCP" }]],
  [[{ name: "a", value: "" }], [{ name: "a" }]],
] as [unknown, unknown][])("%j may be stored as %j", ([wanted, live]) => {
  expect(isStoredForm(wanted, live)).toBe(true);
});

test.for([
  ["0.5", "501m"],
  ["1G", "1Gi"],
  [9007199254740991, 9007199254740990],
  [1_000_000_000_001, 1_000_000_000_002],
  ["1000000000000001", "1000000000000002"],
  ["9223372036854775806", "9223372036854775807"],
  [1000000000000001, "1000000000000002"],
  // Not how the server spells a quantity, so it is a text, and another one.
  ["1e3", "1000"],
  ["1000", "1e3"],
  ["1", "1.0"],
  ["1", "01"],
  ["5", "+5"],
  [1000, 1000.5],
  ["1e99999999", "1E"],
  ["9".repeat(1_000_000), `${"9".repeat(1_000_000)}m`],
  ["a", "b"],
  [["a"], ["a", "b"]],
  [
    ["a", "b"],
    ["b", "a"],
  ],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, "a"],
  ["a", undefined],
] as [unknown, unknown][])("%j is not stored as %j", ([wanted, live]) => {
  expect(isStoredForm(wanted, live)).toBe(false);
  expect(isStoredFormOrEmpty(wanted, live)).toBe(false);
});

test("what is empty may be left out or replaced by a default", () => {
  for (const empty of [null, "", 0, false, [], {}, { a: {}, b: "" }]) {
    expect(isStoredFormOrEmpty(empty, undefined)).toBe(true);
    expect(isStoredForm(empty, undefined)).toBe(false);
  }
  expect(isStoredFormOrEmpty([], ["Ingress"])).toBe(true);
  expect(isStoredForm([{ verbs: [] }], [{ verbs: null }])).toBe(true);
  expect(isStoredFormOrEmpty([""], undefined)).toBe(false);
});

test("admission may add items to a list, and changes none", () => {
  expect(isAdmittedForm(["a"], ["a", "b"])).toBe(true);
  expect(isAdmittedForm([{ key: "a" }], [{ key: "a", effect: "" }, { key: "b" }])).toBe(true);
  expect(isAdmittedForm(["a"], ["b", "a"])).toBe(false);
  expect(isAdmittedForm(["a", "b"], ["a"])).toBe(false);
  expect(isAdmittedForm(["a"], undefined)).toBe(false);
});
