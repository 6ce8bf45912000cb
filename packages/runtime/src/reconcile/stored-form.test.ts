import { expect, test } from "vitest";
import { isAdmittedForm, isStoredForm, isStoredFormOrEmpty } from "./stored-form.ts";

test.for([
  ["0.5", "500m"],
  ["1024Mi", "1Gi"],
  ["1000m", "1"],
  [2, "2"],
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
