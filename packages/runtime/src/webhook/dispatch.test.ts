import { ManualClock } from "@windlass/clock";
import { Namespace, Pod } from "@windlass/kinds/builtin";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { silentLogger } from "../logging/logger.ts";
import { Registry } from "../metrics/registry.ts";
import { defineResource } from "../resource/index.ts";
import { Dispatcher } from "./dispatch.ts";
import { deny, invalid, type WebhookCall, type WebhookServer, webhookServer } from "./index.ts";

const GadgetV2 = defineResource({
  group: "example.com",
  version: "v2",
  kind: "Gadget",
  spec: z.object({ container: z.object({ image: z.string() }) }),
});
const Gadget = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  spec: z.object({ image: z.string(), replicas: z.int().default(1) }),
}).withVersion(GadgetV2, {
  to: ({ spec }) => ({ spec: { container: { image: spec.image } } }),
  from: ({ spec }) => {
    if (spec.container.image === "") throw new Error("there is no image");
    return { spec: { image: spec.container.image } };
  },
});

const validatePath = "/validate-example-com-v1-gadget";
const defaultPath = "/mutate-example-com-v1-gadget";
const json = { "content-type": "application/json" };

const server = () => webhookServer({ name: "gadgets", port: false });

function review(request: object): string {
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u-1",
      operation: "CREATE",
      name: "one",
      namespace: "default",
      userInfo: { username: "jane", groups: ["system:authenticated"] },
      object: Gadget.make({ name: "one", namespace: "default" }, { image: "nginx" }),
      oldObject: null,
      dryRun: false,
      ...request,
    },
  });
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  readonly warnings?: readonly string[];
  readonly patch?: string;
  readonly patchType?: string;
}

async function ask(webhooks: WebhookServer, request: object = {}, path = validatePath) {
  const answer = await webhooks.handle({ path, headers: json, body: review(request) });
  const body = JSON.parse(answer.body) as { response?: Response; message?: string };
  return { code: answer.status, response: body.response, message: body.message };
}

describe("a validating webhook", () => {
  test("a webhook lets pass what its handler does not decide, and echoes the uid", async () => {
    const webhooks = server().validate(Gadget, () => undefined);
    expect(await ask(webhooks, { uid: "abc" })).toEqual({
      code: 200,
      response: { uid: "abc", allowed: true },
      message: undefined,
    });
  });

  test("refuses fields with 422 and their paths, whether thrown or returned", async () => {
    const fault = invalid("spec.image", "must have a tag");
    const throwing = server().validate(Gadget, () => {
      throw fault;
    });
    const wanted = {
      status: "Failure",
      code: 422,
      reason: "Invalid",
      message: 'Gadget.example.com "one" is invalid: spec.image: must have a tag',
      details: {
        name: "one",
        group: "example.com",
        kind: "Gadget",
        causes: [{ field: "spec.image", message: "must have a tag", reason: "FieldValueInvalid" }],
      },
    };
    for (const webhooks of [
      throwing,
      server().validate(Gadget, () => fault),
      server().validate(Gadget, async () => [fault]),
    ])
      expect((await ask(webhooks)).response).toMatchObject({ allowed: false, status: wanted });
  });

  test("takes false and undefined for no refusal, alone and in a list", async () => {
    const fault = invalid("spec.image", "must have a tag");
    const isWrong = (wrong: boolean) => wrong && fault;
    for (const webhooks of [
      server().validate(Gadget, () => isWrong(false)),
      server().validate(Gadget, () => [isWrong(false), undefined]),
    ])
      expect((await ask(webhooks)).response).toEqual({ uid: "u-1", allowed: true });
    const refusing = server().validate(Gadget, async () => [isWrong(false), isWrong(true)]);
    expect((await ask(refusing)).response?.status?.message).toBe(
      'Gadget.example.com "one" is invalid: spec.image: must have a tag',
    );
  });

  test("refuses several fields at once, and the whole before its parts", async () => {
    const faults = [invalid("spec.a", "is wrong"), invalid("spec.b", "is missing", "FieldValueRequired")];
    const fields = await ask(server().validate(Gadget, () => faults));
    expect(fields.response?.status?.message).toBe(
      'Gadget.example.com "one" is invalid: [spec.a: is wrong, spec.b: is missing]',
    );
    const whole = await ask(
      server().validate(Gadget, () => [...faults, deny("not today", { code: 409, reason: "Conflict" })]),
    );
    expect(whole.response?.status).toMatchObject({ code: 409, reason: "Conflict" });
    expect((await ask(server().validate(Gadget, () => deny("no")))).response?.status).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: "no",
    });
  });

  test("receives the operation, the old object, the user and whether it is a dry run, and may warn", async () => {
    const seen: unknown[] = [];
    const webhooks = server().validate(
      Gadget,
      (gadget, { operation, old, user, dryRun, namespace, warn }) => {
        seen.push([operation, gadget.spec.image, old?.spec.image, user.username, dryRun, namespace]);
        warn(`${operation} was seen`);
      },
    );
    const [before, after] = ["nginx:1", "nginx:2"].map((image) => Gadget.make("one", { image }));
    const update = await ask(webhooks, {
      operation: "UPDATE",
      object: after,
      oldObject: before,
      dryRun: true,
    });
    expect(update.response).toEqual({ uid: "u-1", allowed: true, warnings: ["UPDATE was seen"] });
    await ask(webhooks, { operation: "DELETE", object: null, oldObject: before });
    expect(seen).toEqual([
      ["UPDATE", "nginx:2", "nginx:1", "jane", true, "default"],
      ["DELETE", "nginx:1", "nginx:1", "jane", false, "default"],
    ]);
  });

  test("a handler that throws is reported with a 500, is counted, and harms nothing else", async () => {
    let isBroken = true;
    const registry = new Registry();
    const dispatcher = new Dispatcher(10_000);
    const path = validatePath;
    dispatcher.addHandler(path, {
      type: "validate",
      kind: Gadget,
      run: () => {
        if (isBroken) throw new Error("the database is away");
      },
    });
    dispatcher.join({ clock: new ManualClock(), log: silentLogger }, registry);
    const call = { path, headers: json, body: review({}) };
    const failed = await dispatcher.handle(call);
    expect(failed.status).toBe(500);
    expect(JSON.parse(failed.body)).toMatchObject({
      kind: "Status",
      message: "the validate webhook of Gadget failed: the database is away",
    });
    isBroken = false;
    expect((await dispatcher.handle(call)).status).toBe(200);
    const metrics = registry.render();
    expect(metrics).toContain("controller_runtime_webhook_panics_total 1");
    expect(metrics).toContain(`controller_runtime_webhook_requests_total{webhook="${path}",code="500"} 1`);
    expect(metrics).toContain(`controller_runtime_webhook_requests_in_flight{webhook="${path}"} 0`);
    expect(metrics).toContain(`controller_runtime_webhook_latency_seconds_count{webhook="${path}"} 2`);
  });

  test("a handler is canceled by its signal shortly before the API server gives up", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher(10_000);
    const { promise: aborted, resolve } = Promise.withResolvers<unknown>();
    dispatcher.addHandler(validatePath, {
      type: "validate",
      kind: Gadget,
      run: (_object, { signal }) => {
        signal.addEventListener("abort", () => resolve(signal.reason));
        return new Promise<undefined>(() => undefined);
      },
    });
    dispatcher.join({ clock, log: silentLogger }, new Registry());
    const answer = dispatcher.handle({ path: `${validatePath}?timeout=2s`, headers: json, body: review({}) });
    await clock.advance(1_799);
    await clock.advance(1);
    expect(await answer).toMatchObject({ status: 504 });
    expect(await aborted).toMatchObject({ code: "WEBHOOK_TIMEOUT" });
    expect(clock.pending).toBe(0);
  });
});

describe("a mutating webhook", () => {
  const patchOf = ({ response }: Awaited<ReturnType<typeof ask>>): unknown =>
    response?.patch === undefined
      ? undefined
      : JSON.parse(Buffer.from(response.patch, "base64").toString("utf8"));

  test("answers with the patch from the object to its changed copy", async () => {
    const webhooks = server().default(Gadget, ({ spec, ...rest }) => ({
      ...rest,
      spec: { ...spec, image: `${spec.image}:1`, replicas: undefined },
    }));
    const answer = await ask(webhooks, {}, defaultPath);
    expect(answer.response?.patchType).toBe("JSONPatch");
    expect(patchOf(answer)).toEqual([
      { op: "replace", path: "/spec/image", value: "nginx:1" },
      { op: "remove", path: "/spec/replicas" },
    ]);
  });

  test("sends no patch for nothing, or for an equal copy", async () => {
    for (const webhooks of [
      server().default(Gadget, () => undefined),
      server().default(Gadget, (gadget) => structuredClone(gadget)),
    ])
      expect((await ask(webhooks, {}, defaultPath)).response).toEqual({ uid: "u-1", allowed: true });
  });

  test("may refuse by throwing, and cannot change the object in place", async () => {
    const denying = server().default(Gadget, () => {
      throw deny("not in this namespace");
    });
    expect((await ask(denying, {}, defaultPath)).response).toMatchObject({ allowed: false });
    const changing = server().default(Gadget, (gadget) => {
      (gadget.spec as { image: string }).image = "changed";
      return gadget;
    });
    const answer = await ask(changing, {}, defaultPath);
    expect(answer.code).toBe(500);
    expect(answer.message).toContain("read only");
  });
});

describe("what is not a review", () => {
  const webhooks = server()
    .validate(Gadget, () => undefined)
    .convert(Gadget);
  const call = (over: Partial<WebhookCall>): WebhookCall => ({
    path: validatePath,
    headers: json,
    body: review({}),
    ...over,
  });
  const cases: readonly (readonly [string, Partial<WebhookCall>, number, string])[] = [
    ["an unknown path", { path: "/nowhere" }, 404, `there is ${validatePath}, /convert`],
    ["a GET", { method: "GET" }, 405, "only POST"],
    ["another content type", { headers: { "content-type": "text/plain" } }, 400, "application/json"],
    ["no JSON", { body: "{" }, 400, "not JSON"],
    ["another kind", { body: '{"kind":"Pod"}' }, 400, "no AdmissionReview"],
    ["another version", { body: review({}).replace("k8s.io/v1", "k8s.io/v1beta1") }, 400, "v1beta1"],
    ["no uid", { body: review({ uid: "" }) }, 400, "no uid"],
    [
      "another kind of object",
      { body: review({ object: { apiVersion: "v1", kind: "Pod" } }) },
      400,
      "v1 Pod",
    ],
    ["no object", { body: review({ object: null }) }, 400, "request.object must be an object"],
    ["an unknown operation", { body: review({ operation: "CONNECT" }) }, 400, "request.operation"],
    ["too much", { body: review({ more: "x".repeat(7 * 1024 * 1024) }) }, 413, "larger than 7 MiB"],
    ["no conversion", { path: "/convert" }, 400, "no ConversionReview"],
  ];
  test.each(cases)("is refused: %s", async (_name, over, status, words) => {
    const answer = await webhooks.handle(call(over));
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(words);
  });

  test("never gets any further, whatever it is", async () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc.object().map((request) => review(request)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(validatePath, "/convert"), body, async (path, text) => {
        expect([200, 400]).toContain((await webhooks.handle(call({ path, body: text }))).status);
      }),
    );
  });
});

describe("a conversion webhook", () => {
  const convert = async (webhooks: WebhookServer, request: object) => {
    const body = JSON.stringify({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request });
    const answer = await webhooks.handle({ path: "/convert", headers: json, body });
    return (JSON.parse(answer.body) as { response: unknown }).response;
  };

  test("converts a list in its order and keeps metadata", async () => {
    const webhooks = server().convert(Gadget);
    const objects = ["a", "b"].map((name) =>
      Gadget.make({ name, uid: `uid-${name}` }, { image: `nginx:${name}` }),
    );
    expect(await convert(webhooks, { uid: "u", desiredAPIVersion: "example.com/v2", objects })).toEqual({
      uid: "u",
      result: { status: "Success" },
      convertedObjects: ["a", "b"].map((name) => ({
        apiVersion: "example.com/v2",
        kind: "Gadget",
        metadata: { namespace: "default", name, uid: `uid-${name}` },
        spec: { container: { image: `nginx:${name}` } },
      })),
    });
  });

  test("reports the object that cannot be converted", async () => {
    const webhooks = server().convert(Gadget);
    const broken = GadgetV2.make({ name: "b", namespace: "default" }, { container: { image: "" } });
    expect(
      await convert(webhooks, { uid: "u", desiredAPIVersion: "example.com/v1", objects: [broken] }),
    ).toMatchObject({
      uid: "u",
      result: {
        status: "Failure",
        message: "example.com/v2 Gadget default/b: converting it to example.com/v1 failed: there is no image",
      },
    });
    expect(
      await convert(webhooks, { uid: "u", desiredAPIVersion: "other.com/v1", objects: [broken] }),
    ).toMatchObject({ result: { status: "Failure" } });
  });

  test("is only for a kind with several versions", () => {
    expect(() => server().convert(GadgetV2)).toThrow("Gadget has one version, v2");
  });
});

describe("what is generated", () => {
  test("has the rules, the path and the operator's own namespace left out", () => {
    const webhooks = webhookServer({ name: "gadgets", service: { namespace: "gadget-system" } })
      .default(Gadget, () => undefined, { reinvocationPolicy: "IfNeeded" })
      .validate(Gadget, () => undefined, {
        operations: ["DELETE"],
        failurePolicy: "Ignore",
        timeoutSeconds: 3,
        subresources: ["status"],
      });
    const [mutating, validating] = webhooks.configurations();
    expect(mutating).toEqual({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "gadgets" },
      webhooks: [
        {
          name: "default.gadgets.example.com",
          admissionReviewVersions: ["v1"],
          clientConfig: {
            service: { name: "gadgets-webhook", namespace: "gadget-system", port: 443, path: defaultPath },
          },
          rules: [
            {
              apiGroups: ["example.com"],
              apiVersions: ["v1"],
              operations: ["CREATE", "UPDATE"],
              resources: ["gadgets"],
              scope: "Namespaced",
            },
          ],
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          sideEffects: "None",
          timeoutSeconds: 10,
          namespaceSelector: {
            matchExpressions: [
              { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["gadget-system"] },
            ],
          },
          reinvocationPolicy: "IfNeeded",
        },
      ],
    });
    expect(validating?.webhooks?.[0]).toMatchObject({
      name: "validate.gadgets.example.com",
      failurePolicy: "Ignore",
      timeoutSeconds: 3,
      rules: [{ operations: ["DELETE"], resources: ["gadgets", "gadgets/status"] }],
    });
    expect(validating?.webhooks?.[0]).not.toHaveProperty("reinvocationPolicy");
  });

  test("a webhook routes to a URL in development, and to core kinds by the path kubebuilder gives them", () => {
    const webhooks = webhookServer({ name: "x", url: "https://10.0.0.1:9443/" })
      .validate(Pod, () => undefined)
      .validate(Namespace, () => undefined);
    const [{ webhooks: entries } = { webhooks: [] }] = webhooks.configurations();
    expect(entries?.map(({ clientConfig }) => clientConfig.url)).toEqual([
      "https://10.0.0.1:9443/validate--v1-pod",
      "https://10.0.0.1:9443/validate--v1-namespace",
    ]);
    expect(webhooks.conversion()).toEqual({ url: "https://10.0.0.1:9443/convert" });
  });

  test("what cannot be is refused where it is written", () => {
    expect(() => webhookServer({ name: "Not A Name" })).toThrow("must be a name");
    expect(() => webhookServer({ name: "x", url: "http://here" })).toThrow("https://");
    expect(() => webhookServer({ name: "x", timeoutSeconds: 31 })).toThrow("1 to 30");
    expect(() =>
      server()
        .validate(Gadget, () => undefined)
        .validate(Gadget, () => undefined),
    ).toThrow("put both into one handler");
  });
});
