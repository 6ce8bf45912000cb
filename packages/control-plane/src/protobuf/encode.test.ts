import { expect, test } from "vitest";
import { golden } from "./golden.fixture.ts";
import { decodeProtobuf, encodeProtobuf } from "./index.ts";

function kindOf({ apiVersion, kind }: { apiVersion: string; kind: string }) {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version, kind };
}

test("objects are written as the Go library writes them, to the byte", () => {
  for (const [encoded, object] of golden) {
    // Options are registered with every group; only the core group's are ever sent by a server.
    if (object.kind === "DeleteOptions" && object.apiVersion !== "v1") continue;
    // Bytes that were sent empty are missing from the JSON, so they cannot be written again.
    if (object.kind === "ValidatingWebhookConfiguration") continue;
    const written = encodeProtobuf(kindOf(object), object);
    expect(Buffer.from(written ?? []).toString("base64"), object.kind).toBe(encoded);
  }
});

test("what is written is read back the same", () => {
  for (const [, object] of golden) {
    const kind = kindOf(object);
    const written = encodeProtobuf(kind, object);
    if (written) expect(decodeProtobuf(written, kind)).toEqual(object);
  }
});

test("a custom kind has no such form", () => {
  expect(encodeProtobuf({ group: "example.com", version: "v1", kind: "Status" }, {})).toBeUndefined();
  expect(encodeProtobuf({ group: "apps", version: "v9", kind: "Deployment" }, {})).toBeUndefined();
});
