import { expect, test } from "vitest";
import { OperatorSettings, ResolverSettings, SettingsError, settingsFrom } from "./settings.ts";

test("everything has a default, so that an operator starts without any variable", () => {
  expect(settingsFrom(OperatorSettings, {})).toMatchObject({
    POLLING_INTERVAL: 15,
    ELASTI_RESOLVER_PORT_RANGE: { first: 20_000, last: 29_999 },
    WATCH_NAMESPACES: [],
  });
  expect(settingsFrom(ResolverSettings, {})).toMatchObject({ REQ_TIMEOUT: 600, QUEUE_SIZE: 50_000 });
});

test("a variable that is set to nothing is not set", () => {
  const settings = settingsFrom(OperatorSettings, {
    SENTRY_DSN: "",
    PROMETHEUS_TRIGGER_SERVER_ADDRESS: " ",
    WATCH_NAMESPACES: "",
  });
  expect(settings.SENTRY_DSN).toBeUndefined();
  expect(settings.PROMETHEUS_TRIGGER_SERVER_ADDRESS).toBeUndefined();
  expect(settings.WATCH_NAMESPACES).toEqual([]);
});

test("namespaces are separated by commas", () => {
  expect(settingsFrom(ResolverSettings, { WATCH_NAMESPACES: "a, b,c" }).WATCH_NAMESPACES).toEqual([
    "a",
    "b",
    "c",
  ]);
});

test.for([
  ["POLLING_INTERVAL", "soon"],
  ["ELASTI_RESOLVER_PORT_RANGE", "29999-20000"],
  ["ELASTI_RESOLVER_PORT_RANGE", "0-70000"],
  ["PROMETHEUS_TRIGGER_SERVER_ADDRESS", "prometheus"],
] as const)("%s=%s is refused, with its name", ([name, value]) => {
  const read = () => settingsFrom(OperatorSettings, { [name]: value });
  expect(read).toThrow(SettingsError);
  expect(read).toThrow(name);
});

test("what Kubernetes sets for a Service of the operator's name is no setting", () => {
  const { ELASTI_OPERATOR_PORT: port } = settingsFrom(ResolverSettings, {
    ELASTI_OPERATOR_PORT: "tcp://198.19.4.2:8013",
  });
  expect(port).toBe(8013);
});
