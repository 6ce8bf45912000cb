import { expect, test } from "vitest";
import { StatusError } from "../status.ts";
import { failureEncoding, negotiate } from "./negotiate.ts";

const builtin = { origin: "builtin", watch: false } as const;
const custom = { origin: "custom", watch: false } as const;
const protobuf = "application/vnd.kubernetes.protobuf";

function refusal(accept: string, of: Parameters<typeof negotiate>[1]): StatusError {
  try {
    negotiate(accept, of);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error(`${accept} was accepted`);
}

test("a client without an Accept header gets JSON", () => {
  for (const accept of [undefined, "", "*/*", "application/*", "text/html,*/*"]) {
    expect(negotiate(accept, builtin)).toEqual({ as: "object", encoding: "json" });
  }
});

test("the first form a client names is the one it gets, unless it prefers another by weight", () => {
  expect(negotiate(`${protobuf},application/json`, builtin).encoding).toBe("protobuf");
  expect(negotiate(`application/json,${protobuf}`, builtin).encoding).toBe("json");
  expect(negotiate("application/json;q=0.1,application/yaml", builtin).encoding).toBe("yaml");
  expect(negotiate("*/*,application/yaml", builtin).encoding).toBe("yaml");
  expect(negotiate("application/cbor,application/json", builtin).encoding).toBe("json");
});

test("custom kinds have no protobuf but that of their metadata", () => {
  expect(negotiate(`${protobuf},application/json`, custom).encoding).toBe("json");
  expect(refusal(protobuf, custom).code).toBe(406);
  expect(negotiate(`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, custom)).toEqual({
    as: "metadata",
    of: "object",
    encoding: "protobuf",
  });
});

test("tables are JSON or YAML, of a version that exists", () => {
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  expect(negotiate(table, builtin)).toEqual({ as: "table", version: "v1", encoding: "json" });
  expect(negotiate(`${protobuf};as=Table;v=v1;g=meta.k8s.io,application/json`, builtin)).toEqual({
    as: "object",
    encoding: "json",
  });
  expect(refusal("application/json;as=Table;v=v9;g=meta.k8s.io", builtin).code).toBe(406);
});

test("watches cannot be YAML", () => {
  expect(refusal("application/yaml", { origin: "builtin", watch: true }).message).toBe(
    "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
  );
});

test("failures are never transformed", () => {
  expect(failureEncoding(`${protobuf},application/json`)).toBe("protobuf");
  expect(failureEncoding(`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`)).toBe("json");
  expect(failureEncoding("text/html")).toBe("json");
});
