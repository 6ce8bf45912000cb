import { expect, test } from "vitest";
import { flagHelp, lastOf, listOf, readFlags } from "./flags.ts";

const known = { values: ["secure-port", "bind-address", "issuer"], switches: ["anonymous-auth"] };

test.for([
  ["--secure-port=1"],
  ["--secure-port", "1"],
  ["-secure-port", "1"],
  ["-secure-port=1"],
  ["--unknown", "--secure-port=1"],
  ["--unknown", "value", "--secure-port=1"],
  ["--unknown=value", "stray", "--secure-port", "1"],
  ["--secure-port=2", "--secure-port=1"],
  ["--anonymous-auth", "--secure-port", "1"],
])("the port is read from %j", (args) => {
  expect(lastOf(readFlags(args, known), "secure-port")).toBe("1");
});

test("a value may hold what looks like a flag, an equals sign, or nothing", () => {
  expect(lastOf(readFlags(["--issuer=a=b"], known), "issuer")).toBe("a=b");
  expect(lastOf(readFlags(["--issuer=--secure-port"], known), "issuer")).toBe("--secure-port");
  expect(lastOf(readFlags(["--issuer="], known), "issuer")).toBeUndefined();
  expect(lastOf(readFlags(["--issuer"], known), "issuer")).toBeUndefined();
});

test("a switch stands for true, and does not take what follows it", () => {
  const flags = readFlags(["--anonymous-auth", "false", "--anonymous-auth=false"], known);
  expect(flags.get("anonymous-auth")).toEqual(["true", "false"]);
});

test("a list is given at once or one by one", () => {
  expect(listOf(readFlags(["--issuer=a,b", "--issuer", "c"], known), "issuer")).toEqual(["a", "b", "c"]);
  expect(listOf(readFlags([], known), "issuer")).toEqual([]);
});

test("the help has each flag at the start of a line, where suites search for it", () => {
  const help = flagHelp("etcd", { values: ["data-dir"], switches: ["unsafe-no-fsync"] });
  expect(help).toMatch(/^\s*--unsafe-no-fsync\b/m);
  expect(help).toMatch(/^\s*--data-dir\b/m);
  expect(help).not.toMatch(/^\s*--insecure-port\b/m);
});
