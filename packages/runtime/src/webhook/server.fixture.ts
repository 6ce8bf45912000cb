import { type Agent, request } from "node:https";
import { connect } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { splitBundle } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { CustomResourceDefinition, Secret, ValidatingWebhookConfiguration } from "@windlass/kinds/builtin";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type Manager, manager } from "../manager/manager.ts";
import { ModelCluster } from "../reconcile/model-cluster.fixture.ts";
import { defineResource } from "../resource/index.ts";
import { invalid, type WebhookServerOptions, webhookServer } from "./index.ts";

const GadgetV2 = defineResource({
  group: "example.com",
  version: "v2",
  kind: "Gadget",
  spec: z.object({ picture: z.string() }),
});
/** A kind with two versions, which the webhooks of these tests are for. */
export const Gadget = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  spec: z.object({ image: z.string() }),
}).withVersion(GadgetV2, {
  to: ({ spec }) => ({ spec: { picture: spec.image } }),
  from: ({ spec }) => ({ spec: { image: spec.picture } }),
});

/** In milliseconds. */
export const hour = 3_600_000;
/** In milliseconds. */
export const day = 24 * hour;
/** Where its objects are reviewed. */
export const path = "/validate-example-com-v1-gadget";
/** The Secret that has the authority. */
export const secretKey = { namespace: "gadget-system", name: "gadgets-webhook-ca" };

/** A webhook server that validates and converts Gadgets. */
export function gadgets(options: Partial<WebhookServerOptions> = {}) {
  return webhookServer({
    name: "gadgets",
    port: 0,
    host: "127.0.0.1",
    service: { namespace: "gadget-system" },
    ...options,
  })
    .validate(Gadget, ({ spec }) =>
      spec.image.includes(":") ? undefined : invalid("spec.image", "must have a tag"),
    )
    .convert(Gadget);
}

/** What manifests put there before the operator comes. */
export function applyManifests(cluster: ModelCluster): void {
  const webhooks = gadgets();
  for (const configuration of webhooks.configurations())
    cluster.put(ValidatingWebhookConfiguration, configuration);
  cluster.put(CustomResourceDefinition, Gadget.crd({ conversion: webhooks.conversion() }));
}

/** The authorities that the API server trusts: for reviews, and for conversions. */
export const bundlesOf = (cluster: ModelCluster) => {
  const configuration = cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" });
  const crd = cluster.get(CustomResourceDefinition, { name: "gadgets.example.com" });
  const inBase64 = [
    configuration?.webhooks?.[0]?.clientConfig.caBundle,
    crd?.spec.conversion?.webhook?.clientConfig?.caBundle,
  ];
  return inBase64.map((bundle) => splitBundle(Buffer.from(bundle ?? "", "base64").toString()));
};

/** The authority that signs now. */
export const signerOf = (cluster: ModelCluster) =>
  Buffer.from(cluster.get(Secret, secretKey)?.data?.["tls.crt"] ?? "", "base64").toString();

interface Exchange {
  readonly status: number;
  readonly body: string;
  readonly peer: DetailedPeerCertificate;
  readonly localPort: number;
  /** Whether the server keeps the connection. */
  readonly connection: string | undefined;
}

/** Posts a review for one object, as the API server would. */
export function post(
  port: number | undefined,
  {
    ca,
    agent,
    image = "nginx:1",
    to = path,
  }: { ca?: string; agent?: Agent; image?: string; to?: string } = {},
): Promise<Exchange> {
  const object = Gadget.make({ name: "one", namespace: "default" }, { image });
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "u", operation: "CREATE", object },
  });
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path: to,
        method: "POST",
        headers: { "content-type": "application/json" },
        servername: "gadgets-webhook.gadget-system.svc",
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ...(agent ? { agent } : { agent: false }),
      },
      (response) => {
        const socket = response.socket as TLSSocket;
        const peer = socket.getPeerCertificate(true);
        const localPort = socket.localPort ?? 0;
        response.setEncoding("utf8");
        let text = "";
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        const { connection } = response.headers;
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body: text, peer, localPort, connection }),
        );
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Whether a connection is accepted. */
export function listens(port = 0): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** What the probe of the webhook server says. */
export async function readiness(running: Manager): Promise<string> {
  return (await fetch(`http://127.0.0.1:${running.ports.health}/readyz/webhook`)).text();
}

/** An operator whose clock is the machine's, since TLS uses that. */
export async function onMachine(webhooks = gadgets(), cluster = new ModelCluster(systemClock)) {
  const nothing = () => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log };
  const health = { port: 0, host: "127.0.0.1" };
  const running = manager({ client: cluster.client, cache: cluster.cache, log, health, metrics: false }).add(
    webhooks,
  );
  await running.start();
  onTestFinished(() => running.stop());
  return { running, cluster, webhooks };
}
