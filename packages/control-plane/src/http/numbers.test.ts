import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiVersionOf } from "@windlass/kinds";
import { type GoType, goTypeOfKind } from "@windlass/kinds/go-types";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import { type Json, type JsonObject, stringify } from "../json.ts";
import { builtinKinds } from "../kinds/index.ts";
import { decodeProtobuf } from "../protobuf/index.ts";

const pods = "/api/v1/namespaces/default/pods";
const services = "/api/v1/namespaces/default/services";
const things = "/apis/example.com/v1/namespaces/default/things";
const definition = {
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer" },
                  some: { type: "integer", multipleOf: 3 },
                  any: { "x-kubernetes-preserve-unknown-fields": true },
                  ruled: {
                    type: "integer",
                    "x-kubernetes-validations": [{ rule: "self == 9007199254740993" }],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

let folder: string;
let plane: ControlPlane;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "numbers-"));
  plane = await start();
  await send("POST", "/api/v1/namespaces/default/serviceaccounts", '{"metadata":{"name":"default"}}');
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await send("POST", definitions, JSON.stringify(definition));
  await expect.poll(async () => (await send("GET", things)).status).toBe(200);
});
afterEach(async () => {
  await plane.close();
  rmSync(folder, { recursive: true });
});

function start(): Promise<ControlPlane> {
  const onPanic = (error: unknown) => {
    throw error;
  };
  return ControlPlane.start({ controllers: "none", nodes: "none", data: join(folder, "data"), onPanic });
}

async function send(
  method: string,
  path: string,
  body?: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly bytes: Buffer; readonly text: string }> {
  const answer = await plane.connect().request({
    method,
    path,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const bytes = Buffer.concat(await Array.fromAsync(answer.body));
  return { status: answer.status, bytes, text: bytes.toString() };
}

const pod = (grace: string) =>
  `{"metadata":{"name":"a"},"spec":{"terminationGracePeriodSeconds":${grace},"containers":[{"name":"c","image":"i"}]}}`;
const thing = (spec: string, name = "a") =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`;
const largest = "9223372036854775807";
const odd = "9007199254740993";
const protobuf = "application/vnd.kubernetes.protobuf";

test("an integer of 64 bits stays what it is, in every form and through every way to write", async () => {
  const exact = `"terminationGracePeriodSeconds":${odd}`;
  expect(await send("POST", pods, pod(odd))).toMatchObject({ status: 201 });
  const patches = {
    "application/merge-patch+json": '{"metadata":{"labels":{"a":"1"}}}',
    "application/strategic-merge-patch+json": '{"metadata":{"labels":{"a":"2"}}}',
    "application/json-patch+json": '[{"op":"replace","path":"/metadata/labels/a","value":"3"}]',
    "application/apply-patch+yaml":
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"b":"1"}}}',
  };
  for (const [type, body] of Object.entries(patches)) {
    const { status, text } = await send("PATCH", `${pods}/a?fieldManager=x`, body, { "content-type": type });
    expect(status, `${type}: ${text}`).toBe(200);
    expect(text, type).toContain(exact);
  }
  expect((await send("GET", `${pods}/a`)).text).toContain(exact);
  expect((await send("GET", `${pods}/a?pretty=true`)).text).toContain(exact.replace(":", ": "));
  expect((await send("GET", pods)).text).toContain(exact);
  expect((await send("GET", `${pods}/a`, undefined, { accept: "application/yaml" })).text).toContain(odd);
  const { bytes } = await send("GET", `${pods}/a`, undefined, { accept: protobuf });
  const kind = { group: "", version: "v1", kind: "Pod" };
  expect(decodeProtobuf(bytes, kind)).toMatchObject({ spec: { terminationGracePeriodSeconds: BigInt(odd) } });
  const back = await send("PUT", `${pods}/a`, bytes, { "content-type": protobuf });
  expect(back.text).toContain(exact);
  await plane.close();
  plane = await start();
  expect((await send("GET", `${pods}/a`)).text).toContain(exact);
});

test("the same of custom resources, in JSON and YAML, with their rules and columns", async () => {
  const spec = `{"any":{"deep":[-${odd}]},"ruled":${odd},"size":${largest},"some":9007199254740993}`;
  expect(await send("POST", things, thing(spec))).toMatchObject({ status: 201 });
  expect((await send("GET", `${things}/a`)).text).toContain(`"spec":${spec}`);
  const table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  expect((await send("GET", things, undefined, { accept: table })).text).toContain(`["a",${largest}]`);
  const yaml = `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: b}\nspec: {size: ${largest}, any: 1_000}\n`;
  const made = await send("POST", things, yaml, { "content-type": "application/yaml" });
  expect(made.text).toContain(`"spec":{"size":${largest},"any":1000}`);
  expect((await send("POST", things, thing('{"some":9007199254740994}', "c"))).text).toContain(
    "9007199254740994: spec.some in body should be a multiple of 3",
  );
  expect((await send("POST", things, thing('{"ruled":9007199254740992}', "c"))).text).toContain(
    "failed rule",
  );
});

test.for([
  [
    "POST",
    things,
    thing('{"any":1e400}'),
    'Thing in version \\"v1\\" cannot be handled as a Thing: json: cannot unmarshal number 1e400 into Go value of type float64',
  ],
  [
    "POST",
    pods,
    pod("1e400"),
    "number 1e400 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
  ],
  ["POST", pods, pod("9223372036854775808"), "number 9223372036854775808 into Go struct field"],
  ["POST", pods, pod("-9223372036854775809"), "number -9223372036854775809 into Go struct field"],
  ["POST", pods, pod("1.0"), "number 1.0 into Go struct field"],
])(
  "what no field can hold is refused in Go's words: %s %s %s",
  async ([method = "", path = "", body, words]) => {
    const { status, text } = await send(method, path, body);
    expect(status).toBe(400);
    expect(text).toContain(words);
  },
);

test("a patch with a number out of range is refused, and what was there stays", async () => {
  await send("POST", things, thing(`{"any":${odd}}`));
  for (const [type, body] of [
    ["application/merge-patch+json", '{"spec":{"any":1e400}}'],
    ["application/json-patch+json", '[{"op":"add","path":"/spec/any","value":1e400}]'],
  ] as const) {
    expect(await send("PATCH", `${things}/a`, body, { "content-type": type })).toMatchObject({ status: 400 });
  }
  expect((await send("GET", `${things}/a`)).text).toContain(`"spec":{"any":${odd}}`);
});

test("a large integer where none belongs, in the key of an item or a review's metadata, is refused and breaks nothing else", async () => {
  await send("POST", services, '{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}');
  for (const port of [odd, `{"a":${odd}}`, `[${odd}]`]) {
    const items = `{"spec":{"ports":[{"port":${port}}],"$setElementOrder/ports":[{"port":${port}}]}}`;
    const strategic = { "content-type": "application/strategic-merge-patch+json" };
    expect((await send("PATCH", `${services}/s`, items, strategic)).status).toBeLessThan(500);
  }
  const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const review = `{"metadata":{"generation":${odd}},"spec":{"resourceAttributes":{"verb":"get"}}}`;
  const { status, text } = await send("POST", reviews, review);
  expect(status).toBe(422);
  expect(text).toContain(odd);
});

/**
 * A value with every field of a type in it, whose integers of 64 bits are large. Undefined where it
 * goes too deep.
 */
function filled(type: GoType, depth = 0): Json | undefined {
  if (depth > 7) return undefined;
  switch (type.at) {
    case "pointer":
      return filled(type.to, depth);
    case "struct": {
      const fields = type.fields.json.map(({ json, type: of }) => [json, filled(of, depth + 1)] as const);
      return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as JsonObject;
    }
    case "list": {
      const item = filled(type.item, depth + 1);
      return item === undefined ? undefined : [item];
    }
    case "map": {
      const value = filled(type.value, depth + 1);
      return value === undefined ? undefined : { key: value };
    }
    case "scalar":
      return { string: "a", bool: true, bytes: "YQ==", int64: BigInt(odd) }[type.scalar as string] ?? 1;
    case "special":
      return { quantity: "1", time: "2026-01-01T00:00:00Z", duration: "1s", "int-or-string": 1 }[
        type.special as string
      ];
  }
}

test("wherever a built-in kind has an integer of 64 bits, a large one is stored or refused, and breaks nothing else", async () => {
  const panics: string[] = [];
  await using bare = await ControlPlane.start({
    onPanic: (error, where) => panics.push(`${where} ${String(error)}`),
  });
  const answers: string[] = [];
  for (const info of builtinKinds().all()) {
    const type = goTypeOfKind(info.group, info.version, info.kind);
    if (!type || !info.verbs.includes("create")) continue;
    const object = {
      ...(filled(type) as JsonObject),
      kind: info.kind,
      apiVersion: apiVersionOf(info),
      metadata: { name: "a" },
    };
    const root = info.group === "" ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`;
    const path = `${root}/${info.namespaced ? "namespaces/default/" : ""}${info.plural}`;
    const answer = await bare.connect().request({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: stringify(object),
    });
    await Array.fromAsync(answer.body);
    answers.push(`${answer.status} ${path}`);
  }
  await bare.settle();
  expect(panics).toEqual([]);
  expect(answers.filter((answer) => answer.startsWith("500"))).toEqual([]);
  expect(answers.length).toBeGreaterThan(50);
});
