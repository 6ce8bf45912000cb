import { ManualClock, seededRandom } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../../control-plane.ts";
import type { JsonObject } from "../../json.ts";

let plane: ControlPlane;

beforeEach(async () => {
  plane = await ControlPlane.start({
    clock: new ManualClock(),
    random: seededRandom(1),
    controllers: "none",
  });
});
afterEach(() => plane.close());

async function send(method: string, path: string, body?: object) {
  const response = await plane.connect().request({
    method,
    path,
    headers: { "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return {
    status: response.status,
    warnings: response.headers.warning ?? [],
    body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject,
  };
}

const registration = "/apis/admissionregistration.k8s.io/v1";
const maps = "/api/v1/namespaces/default/configmaps";

/** A policy `p` for ConfigMaps, put to use by a binding `b`. */
async function policy(spec: object, binding: object = {}): Promise<void> {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }];
  await send("POST", `${registration}/validatingadmissionpolicies`, {
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules: rules }, ...spec },
  });
  await send("POST", `${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: "b" },
    spec: { policyName: "p", validationActions: ["Deny"], ...binding },
  });
}

const create = (name = "x", data: object = { a: "1" }) => send("POST", maps, { metadata: { name }, data });

test("a request that does not pass is refused with the validation's message", async () => {
  await policy({ validations: [{ expression: "object.data.a == '2'", message: "a must be two" }] });
  const { status, body } = await create();
  expect(status).toBe(422);
  expect(body).toMatchObject({
    reason: "Invalid",
    message: `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: a must be two`,
  });
});

test("a message may be made from the request", async () => {
  const messageExpression = "'a is ' + object.data.a";
  await policy({ validations: [{ expression: "false", messageExpression, reason: "Forbidden" }] });
  const { status, body } = await create();
  expect(status).toBe(403);
  expect(body.message).toMatch(/denied request: a is 1$/);
});

test("a policy without a binding does nothing", async () => {
  await policy({ validations: [{ expression: "false" }] });
  await send("DELETE", `${registration}/validatingadmissionpolicybindings/b`);
  expect((await create()).status).toBe(201);
});

test("a binding may warn instead of refusing", async () => {
  await policy({ validations: [{ expression: "false", message: "no" }] }, { validationActions: ["Warn"] });
  const { status, warnings } = await create();
  expect(status).toBe(201);
  expect(warnings).toEqual([
    `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"`,
  ]);
});

test("variables are evaluated only when they are used", async () => {
  await policy({
    variables: [
      { name: "broken", expression: "object.data.nothing" },
      { name: "a", expression: "object.data.a" },
      { name: "twice", expression: "variables.a + variables.a" },
    ],
    validations: [{ expression: "variables.twice == '11' || variables.broken == ''" }],
  });
  expect((await create("x", { a: "1" })).status).toBe(201);
  const { body } = await create("y", { a: "2" });
  expect(body.message).toMatch(
    /resulted in error: composited variable "broken" fails to evaluate: no such key: nothing$/,
  );
});

test("parameters come from the object that the binding names", async () => {
  await send("POST", maps, { metadata: { name: "limits" }, data: { most: "2" } });
  await policy(
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConditions: [{ name: "others", expression: "object.metadata.name != 'limits'" }],
      validations: [{ expression: "int(object.data.a) <= int(params.data.most)" }],
    },
    { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } },
  );
  expect((await create("small", { a: "2" })).status).toBe(201);
  expect((await create("large", { a: "3" })).status).toBe(422);
  await send("PUT", `${maps}/limits`, { metadata: { name: "limits" }, data: { most: "3" } });
  expect((await create("large", { a: "3" })).status).toBe(201);
});

test("absent parameters refuse or let pass, as the binding says", async () => {
  const spec = {
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    validations: [{ expression: "params.data.a == 'x'" }],
  };
  await policy(spec, { paramRef: { name: "nowhere", parameterNotFoundAction: "Deny" } });
  expect((await create()).body.message).toMatch(
    /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
  );
  await send("DELETE", `${registration}/validatingadmissionpolicybindings/b`);
  await policy(spec, { paramRef: { name: "nowhere", parameterNotFoundAction: "Allow" } });
  expect((await create()).status).toBe(201);
});

test("an expression that fails refuses the request, unless failures are ignored", async () => {
  const validations = [{ expression: "object.data.nothing == 'x'" }];
  await policy({ validations });
  expect((await create()).body.message).toMatch(
    /expression 'object.data.nothing == 'x'' resulted in error: no such key: nothing$/,
  );
  await send("DELETE", `${registration}/validatingadmissionpolicies/p`);
  await policy({ validations, failurePolicy: "Ignore" });
  expect((await create()).status).toBe(201);
});

test("an expression may ask what the user is allowed to do", async () => {
  await policy({
    validations: [
      { expression: "authorizer.requestResource.check('create').allowed()" },
      {
        expression:
          "authorizer.serviceAccount('default', 'nobody').group('').resource('pods').check('list').allowed()",
      },
    ],
  });
  expect((await create()).body.message).toMatch(/failed expression: authorizer.serviceAccount/);
});

test("deletions are evaluated with the object that is deleted", async () => {
  await create("kept", { a: "keep" });
  await policy({ validations: [{ expression: "object != null || oldObject.data.a != 'keep'" }] });
  expect((await send("DELETE", `${maps}/kept`)).status).toBe(422);
});

test("policies stay changeable whatever they say", async () => {
  await policy({
    matchConstraints: {
      resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }],
    },
    validations: [{ expression: "false" }],
  });
  expect((await create()).status).toBe(422);
  expect((await send("DELETE", `${registration}/validatingadmissionpolicies/p`)).status).toBe(200);
  expect((await create()).status).toBe(201);
});

test("expressions that do not compile are refused when they are written", async () => {
  const { status, body } = await send("POST", `${registration}/validatingadmissionpolicies`, {
    metadata: { name: "bad" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }],
      },
      matchConditions: [{ name: "c", expression: "1" }],
      variables: [{ name: "v", expression: "variables.zzz" }],
      validations: [{ expression: "object.x" }, { expression: "true", messageExpression: "authorizer.foo" }],
    },
  });
  expect(status).toBe(422);
  const { causes } = body.details as { causes: { field: string; message: string }[] };
  expect(causes.map(({ field, message }) => [field, message.split("\n")[0]])).toEqual([
    ["spec.matchConditions[0].expression", 'Invalid value: "1": must evaluate to bool but got int'],
    [
      "spec.variables[0].expression",
      `Invalid value: "variables.zzz": compilation failed: ERROR: <input>:1:10: undefined field 'zzz'`,
    ],
    ["spec.validations[0].expression", 'Invalid value: "object.x": must evaluate to bool but got dyn'],
    [
      "spec.validations[1].messageExpression",
      `Invalid value: "authorizer.foo": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')`,
    ],
  ]);
});

test("an audit annotation that cannot be evaluated refuses the request, whatever the binding does about violations", async () => {
  const auditAnnotations = [{ key: "k", valueExpression: "string(object.data.nothing)" }];
  await policy({ validations: [{ expression: "true" }], auditAnnotations }, { validationActions: ["Audit"] });
  const { status, body } = await create();
  expect(status).toBe(422);
  expect(body.message).toBe(
    `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: expression 'string(object.data.nothing)' resulted in error: no such key: nothing`,
  );
});

test("an audit annotation that can be evaluated is not sent to the client", async () => {
  const auditAnnotations = [{ key: "k", valueExpression: "'a is ' + object.data.a" }];
  await policy({ validations: [{ expression: "true" }], auditAnnotations });
  expect((await create()).status).toBe(201);
});
