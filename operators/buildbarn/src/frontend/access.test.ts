import { ConfigMap, Deployment, NetworkPolicy, Secret, Service } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EmbeddedTestEnvironment } from "../../testing/embedded-test-environment.ts";
import {
  checkConfiguration,
  commonDocument,
  componentFiles,
  frontendDocument,
  versions,
} from "../configuration/index.ts";
import { BuildbarnCluster, BuildbarnFrontend } from "../index.ts";

const wait = { timeout: 20_000 };
const authorities = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n";

test.for(versions)(
  "bb_storage of %s takes a frontend with TLS, tokens and client certificates",
  (version) => {
    const everything = {
      hasTls: true,
      jwt: { claimsValidation: "iss == 'https://ci.example.com'" },
      clientCertificates: { authorities, validation: "`true`" },
    };
    const authorization = { read: "claims.sub == 'a'", execute: "instanceName == ''" };
    for (const access of [
      { ...everything, authorization },
      { hasTls: false, authorization },
      everything,
      { hasTls: true },
      { hasTls: false, jwt: everything.jwt },
    ]) {
      const shards = {
        map: { is: "single", at: { shards: 2 } } as const,
        addressOf: ({ number }: { readonly number: number }) => `s-${number}:8981`,
      };
      const files = componentFiles({
        common: commonDocument({ version, shards }),
        documents: {
          "frontend.jsonnet": frontendDocument(
            version,
            [{ instanceNamePrefix: "", address: "s:8982" }],
            access,
          ),
        },
        overrides: undefined,
      });
      const environment = { POD_NAME: "pod", NODE_NAME: "node" };
      const entry = "frontend.jsonnet";
      expect(checkConfiguration({ program: "bb_storage", version, files, entry, environment })).toMatchObject(
        {
          is: "valid",
        },
      );
    }
  },
);

let world: EmbeddedTestEnvironment;
beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
}, 60_000);
afterAll(() => world.close());

test("a guarded frontend shows its certificate and asks for tokens; its scheduler has a way of its own", async () => {
  const { client, namespace } = world;
  await client.create(Secret, {
    metadata: { namespace, name: "cert" },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": "certificate", "tls.key": "very-secret" },
  });
  await client.create(BuildbarnCluster, {
    metadata: { namespace, name: "bb" },
    spec: {
      frontend: {
        tls: { secretName: "cert" },
        authentication: { jwt: { configMapName: "keys" }, clientCertificates: { configMapName: "ca" } },
      },
      workers: [{ name: "linux", replicas: 0 }],
    },
  });
  // The authorities are not there yet.
  await waitForCondition(client, BuildbarnFrontend, world.key("bb-frontend"), "ConfigValid", "False", wait);
  await client.create(ConfigMap, { metadata: { namespace, name: "ca" }, data: { "ca.crt": authorities } });
  await waitForCondition(client, BuildbarnFrontend, world.key("bb-frontend"), "ConfigValid", "True", wait);
  const { spec } = await client.get(Deployment, world.key("bb-frontend"));
  const { volumes = [], containers } = spec?.template.spec ?? { containers: [] };
  expect(volumes).toContainEqual(
    expect.objectContaining({ name: "tls", secret: expect.objectContaining({ secretName: "cert" }) }),
  );
  expect(containers[0]?.volumeMounts).toContainEqual(
    expect.objectContaining({ name: "jwks", mountPath: "/jwks" }),
  );
  const { status } = await client.get(BuildbarnFrontend, world.key("bb-frontend"));
  expect(status?.endpoint).toBe(`grpcs://bb-frontend.${namespace}.svc:8980`);
  // No load balancer leads to the way without TLS, and only the scheduler and the operator may take
  // it.
  expect((await client.get(Service, world.key("bb-frontend"))).spec?.ports?.map(({ port }) => port)).toEqual([
    8980,
  ]);
  const internal = await client.get(Service, world.key("bb-frontend-internal"));
  expect(internal.spec?.ports?.map(({ port }) => port)).toEqual([8979]);
  const policy = await client.get(NetworkPolicy, world.key("bb-frontend"));
  expect(policy.spec?.ingress?.find(({ ports }) => ports?.[0]?.port === 8979)?.from).toHaveLength(2);
  const maps = (await client.list(ConfigMap, { namespace })).items.map(({ data = {} }) =>
    JSON.stringify(data),
  );
  expect(maps.filter((text) => text.includes("bb-frontend-internal:8979"))).toHaveLength(1);
  expect(maps.filter((text) => text.includes("very-secret"))).toEqual([]);
});

test("what clients may do holds for them, and not for members of the set", () => {
  const rule = "claims.sub == 'ci'";
  const files = componentFiles({
    common: commonDocument({
      version: "2026-08",
      shards: { map: { is: "single", at: { shards: 1 } }, addressOf: () => "s:8981" },
    }),
    documents: {
      "frontend.jsonnet": frontendDocument("2026-08", [], {
        hasTls: false,
        jwt: { claimsValidation: "`true`" },
        authorization: { writeResults: rule },
      }),
    },
    overrides: undefined,
  });
  const checked = checkConfiguration({
    program: "bb_storage",
    version: "2026-08",
    files,
    entry: "frontend.jsonnet",
    environment: {},
  });
  const expression = expect.stringMatching(
    /^authenticationMetadata\.private\.member \|\| \(.* \| \(claims\.sub == 'ci'\)\)$/,
  );
  expect(checked).toMatchObject({
    json: {
      actionCache: { getAuthorizer: { allow: {} }, putAuthorizer: { jmespathExpression: { expression } } },
      executeAuthorizer: { allow: {} },
      grpcServers: [
        {
          authenticationPolicy: {
            jwt: { metadataExtractionJmespathExpression: { expression: '{"private": {"claims": payload}}' } },
          },
        },
        { authenticationPolicy: { allow: { private: { member: true } } } },
      ],
    },
  });
});

test("other authorities restart the frontend, for it reads them once", async () => {
  const { client, namespace } = world;
  const hashOf = async () =>
    (await client.get(Deployment, world.key("bb-frontend"))).spec?.template.metadata?.annotations?.[
      "buildbarn.io/config-hash"
    ];
  const before = await hashOf();
  await client.patch(
    ConfigMap,
    { namespace, name: "ca" },
    { type: "merge", patch: { data: { "ca.crt": "other" } } },
  );
  await waitFor(
    client,
    Deployment,
    world.key("bb-frontend"),
    ({ spec }) => spec?.template.metadata?.annotations?.["buildbarn.io/config-hash"] !== before,
    wait,
  );
});

test("an expression that no program could answer is refused with its field, and pods are left alone", {
  timeout: 120_000,
}, async () => {
  const { client } = world;
  const name = "bb-frontend";
  const jwt = (claimsValidation: string) =>
    world.client.patch(BuildbarnCluster, world.key("bb"), {
      type: "merge",
      patch: {
        spec: { frontend: { authentication: { jwt: { configMapName: "keys", claimsValidation } } } },
      },
    });
  await waitForCondition(client, BuildbarnFrontend, world.key(name), "ConfigValid", "True", wait);
  const before = await client.get(Deployment, world.key(name));
  for (const [expression, fault] of [
    ["iss == 'ci' && (sub", "line 1, column 20: expected ), found the end"],
    // It fits with the parentheses around a rule of spec.authorization, and nowhere else.
    ["false) || (`true`", "line 1, column 6: expected an operator or the end, found )"],
    // A frontend that is asked to answer it ends.
    ["@(sub)", "line 1, column 2: what is before ( is not the name of a function"],
  ] as const) {
    await jwt(expression);
    const message = `spec.authentication.jwt.claimsValidation: is no JMESPath that can be answered: ${fault}`;
    await world.seen(BuildbarnFrontend, name, ({ status }) =>
      status?.conditions?.some(
        (one) => one.type === "ConfigValid" && one.reason === "ExpressionInvalid" && one.message === message,
      ),
    );
  }
  expect((await client.get(Deployment, world.key(name))).metadata.generation).toBe(
    before.metadata.generation,
  );
  await jwt("iss == 'ci'");
  await waitForCondition(client, BuildbarnFrontend, world.key(name), "ConfigValid", "True", wait);
});
