import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { StatusError } from "../status.ts";
import { base64Fault } from "./base64.ts";
import { builtinKinds, normalize, normalizeAs } from "./index.ts";
import { formatTime, isWritten, parseTime, TimeError } from "./time.ts";

const deployment = { group: "apps", version: "v1", kind: "Deployment" };
const role = { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role" };
const lease = { group: "coordination.k8s.io", version: "v1", kind: "Lease" };
const secret = { group: "", version: "v1", kind: "Secret" };

function refusal(kind: { group: string; version: string; kind: string }, object: JsonObject): string {
  try {
    normalize(kind, object);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message;
    throw error;
  }
  throw new Error("was not refused");
}

test("empty optional fields go, required ones come, unknown ones are lost", () => {
  const pod = normalize(
    { group: "", version: "v1", kind: "Pod" },
    {
      metadata: { name: "web", labels: {}, creationTimestamp: null, finalizers: [] },
      spec: {
        hostNetwork: false,
        terminationGracePeriodSeconds: 0,
        securityContext: {},
        bogus: true,
        containers: [{ name: "web", command: [], env: [{ value: "", name: "EMPTY" }] }],
        volumes: [{ name: "scratch", emptyDir: {} }],
      },
    },
  );
  expect(pod).toEqual({
    metadata: { name: "web" },
    spec: {
      volumes: [{ name: "scratch", emptyDir: {} }],
      containers: [{ name: "web", env: [{ name: "EMPTY" }], resources: {} }],
      terminationGracePeriodSeconds: 0,
      securityContext: {},
    },
    status: {},
  });
});

test("keys stand in the order the real server writes them", () => {
  const map = normalize(
    { group: "", version: "v1", kind: "ConfigMap" },
    {
      data: { b: "2", a: "1" },
      metadata: { namespace: "default", name: "it" },
      apiVersion: "v1",
      kind: "ConfigMap",
    },
  );
  expect(JSON.stringify(map)).toBe(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"it","namespace":"default"},"data":{"a":"1","b":"2"}}',
  );
});

test("a list that is always written is null once stored, and still empty when just decoded", () => {
  expect(normalize(role, { rules: [] })).toEqual({ metadata: {}, rules: null });
  expect(normalize(role, { rules: [] }, "decoded")).toEqual({ metadata: {}, rules: [] });
  expect(normalize(role, {}, "decoded")).toEqual({ metadata: {}, rules: null });
});

test("quantities and times take their one form", () => {
  const claim = normalize(
    { group: "", version: "v1", kind: "PersistentVolumeClaim" },
    { spec: { resources: { requests: { storage: 1024 }, limits: { storage: "1024Mi" } } } },
  );
  expect(claim.spec).toEqual({ resources: { limits: { storage: "1Gi" }, requests: { storage: "1024" } } });
  const held = normalize(lease, { spec: { renewTime: "2020-01-01T01:00:00.123456+02:00" } });
  expect(held.spec).toEqual({ renewTime: "2019-12-31T23:00:00.123456Z" });
  expect(normalizeAs("meta.v1.ObjectMeta", { creationTimestamp: "2020-01-01T00:00:00.9Z" })).toEqual({
    creationTimestamp: "2020-01-01T00:00:00Z",
  });
});

test("a wrong type is refused in the words of the real server, which name the struct and the path", () => {
  const prefix = 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal ';
  expect(refusal(deployment, { spec: { replicas: "3" } })).toBe(
    `${prefix}string into Go struct field DeploymentSpec.spec.replicas of type int32`,
  );
  expect(refusal(deployment, { spec: { replicas: 1.5 } })).toBe(
    `${prefix}number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32`,
  );
  expect(refusal(deployment, { spec: { template: { spec: { containers: [{ name: 1 }] } } } })).toBe(
    `${prefix}number into Go struct field Container.spec.template.spec.containers.name of type string`,
  );
  expect(refusal(deployment, { spec: { template: { spec: { containers: {} } } } })).toBe(
    `${prefix}object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container`,
  );
  expect(refusal(deployment, { spec: { template: { spec: { restartPolicy: 1 } } } })).toBe(
    `${prefix}number into Go struct field PodSpec.spec.template.spec.restartPolicy of type v1.RestartPolicy`,
  );
  expect(refusal(deployment, { metadata: { labels: { a: 1 } }, spec: [] })).toBe(
    `${prefix}number into Go struct field ObjectMeta.metadata.labels of type string`,
  );
  expect(refusal(deployment, { spec: [] })).toBe(
    `${prefix}array into Go struct field Deployment.spec of type v1.DeploymentSpec`,
  );
  expect(refusal(deployment, { spec: { strategy: { rollingUpdate: { maxSurge: true } } } })).toBe(
    `${prefix}bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32`,
  );
  expect(refusal(secret, { data: { a: 1 } })).toBe(
    'Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number into Go struct field Secret.data of type []uint8',
  );
});

test("times are refused in Go's words", () => {
  const refused = (renewTime: string) =>
    refusal(lease, { spec: { renewTime } }).replace(
      'Lease in version "v1" cannot be handled as a Lease: ',
      "",
    );
  expect(refused("2020-01-01T00:00:00Z")).toBe(
    'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  );
  expect(refused("2020-02-30T00:00:00.000000Z")).toBe(
    'parsing time "2020-02-30T00:00:00.000000Z": day out of range',
  );
});

test("base64 is refused where Go refuses it", () => {
  expect(refusal(secret, { data: { a: "???" } })).toContain("illegal base64 data at input byte 0");
  expect(base64Fault("YQ")).toBe(0);
  expect(base64Fault("YQ==x")).toBe(4);
  expect(base64Fault("YQ=x")).toBe(3);
  expect(base64Fault("YW\nI=")).toBeUndefined();
});

test("a key called __proto__ is data like any other", () => {
  const object = JSON.parse('{"data":{"__proto__":"x"}}') as JsonObject;
  const map = normalize({ group: "", version: "v1", kind: "ConfigMap" }, object);
  expect(JSON.stringify(map)).toBe('{"metadata":{},"data":{"__proto__":"x"}}');
});

test("the unions of a definition's schema keep the form they were given", () => {
  const definition = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" };
  const schema = {
    type: "object",
    properties: {
      open: { type: "object", additionalProperties: true },
      map: { type: "object", additionalProperties: { type: "string", nullable: false } },
      list: { type: "array", items: { type: "integer", minimum: 0 } },
      any: { "x-kubernetes-preserve-unknown-fields": true, default: { b: 1, a: [] } },
    },
  };
  const given = { spec: { versions: [{ name: "v1", schema: { openAPIV3Schema: schema } }] } };
  const written = normalize(definition, given);
  expect(written).toHaveProperty("spec.versions.0.schema.openAPIV3Schema.properties", {
    any: { "x-kubernetes-preserve-unknown-fields": true, default: { b: 1, a: [] } },
    list: { type: "array", items: { type: "integer", minimum: 0 } },
    map: { type: "object", additionalProperties: { type: "string" } },
    open: { type: "object", additionalProperties: true },
  });
});

const names = [
  "metadata",
  "spec",
  "status",
  "data",
  "template",
  "containers",
  "name",
  "labels",
  "rules",
  "ports",
];
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, 1.5, 2 ** 40, "", "x", "5Gi", "2020-01-01T00:00:00Z"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names, "__proto__", "constructor"), tie("value"), { maxKeys: 4 }),
  ),
}));

test("whatever is sent is either refused or comes to rest: a second pass changes nothing", () => {
  const kinds = [...builtinKinds().all()];
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.dictionary(fc.constantFrom(...names), values.value, { maxKeys: 4 }),
      (kind, given) => {
        let once: JsonObject;
        try {
          once = normalize(kind, given as JsonObject);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
          return;
        }
        expect(JSON.stringify(normalize(kind, once))).toBe(JSON.stringify(once));
      },
    ),
  );
});

test("a time that was read is written and read back the same", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }), (date) => {
      const text = `${date.toISOString().slice(0, -1)}000Z`;
      expect(formatTime(parseTime(text, "micros"), "micros")).toBe(text);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => parseTime(text, "seconds")).toThrow(TimeError);
    }),
  );
});

test("a text counts as a written time if it is written the same after it was read", () => {
  const digits = (length: number) =>
    fc.integer({ min: 0, max: 10 ** length - 1 }).map((n) => String(n).padStart(length, "0"));
  const two = (most: number) => fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(2, "0"));
  const text = fc
    .tuple(
      digits(4),
      two(13),
      two(32),
      two(25),
      two(61),
      two(61),
      fc.constantFrom("Z", ".000000Z", ".123456Z", ".5Z", "z", "+00:00"),
    )
    .map(
      ([year, month, day, hour, minute, second, end]) =>
        `${year}-${month}-${day}T${hour}:${minute}:${second}${end}`,
    );
  fc.assert(
    fc.property(text, fc.constantFrom("seconds" as const, "micros" as const), (given, precision) => {
      let written: string | undefined;
      try {
        written = formatTime(parseTime(given, precision), precision);
      } catch (error) {
        expect(error).toBeInstanceOf(TimeError);
      }
      expect(isWritten(given, precision)).toBe(written === given);
    }),
    { numRuns: 2_000 },
  );
});
