import type { AnyKind, KubernetesObject, ObjectOf } from "@windlass/client";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../kinds/index.ts";
import { clientConfigFor, type WebhookConfiguration, type Where } from "./configurations.ts";
import { conversionPath } from "./dispatch.ts";

/** An object that tells the API server whom to call, and so must hold the authority of our certificate. */
export interface TrustTarget {
  readonly kind: AnyKind;
  readonly name: string;
  /** What to do about an object that is there and does not lead to us; undefined if it does. */
  astray(object: KubernetesObject): string | undefined;
  /** The `caBundle`s of those of its entries that lead to us, in base64; empty where there is none. */
  bundlesIn(object: KubernetesObject): readonly string[];
  /**
   * What to apply: the object's part that is ours, with this bundle.
   *
   * @param object as it is; undefined when there is none
   * @param caBundle in base64; undefined for none
   * @returns undefined when there is nothing to apply it to
   */
  wanted(object: KubernetesObject | undefined, caBundle: string | undefined): object | undefined;
}

interface ClientConfig {
  readonly url?: string;
  readonly service?: { readonly name: string; readonly namespace: string };
  readonly caBundle?: string;
}

/** Whether a `clientConfig` leads to us. */
function leadsTo(where: Where, config: ClientConfig | undefined): boolean {
  if ("url" in where) return config?.url?.startsWith(where.url) ?? false;
  const { name, namespace } = where.service;
  return config?.service?.name === name && config.service.namespace === namespace;
}

function shown(where: Where): string {
  return "url" in where ? where.url : `Service ${where.service.namespace}/${where.service.name}`;
}

/** A webhook configuration. With `install` it is made and kept as generated; otherwise only the bundle is put in. */
export function configurationTarget(
  generated: WebhookConfiguration,
  where: Where,
  { install }: { readonly install: boolean },
): TrustTarget {
  const isMutating = generated.kind === "MutatingWebhookConfiguration";
  const kind = isMutating ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
  const { metadata, webhooks = [] } = generated;
  const name = metadata.name ?? "";
  const oursIn = (object: KubernetesObject) =>
    ((object as ObjectOf<typeof ValidatingWebhookConfiguration>).webhooks ?? []).filter(({ clientConfig }) =>
      leadsTo(where, clientConfig),
    );
  const withBundle = (caBundle: string | undefined) => (caBundle === undefined ? {} : { caBundle });
  return {
    kind,
    name,
    astray: (object) =>
      install || oursIn(object).length > 0
        ? undefined
        : `none of its webhooks leads to ${shown(where)}: apply what configurations() generates, or set install`,
    bundlesIn: (object) => oursIn(object).map(({ clientConfig }) => clientConfig.caBundle ?? ""),
    wanted(object, caBundle) {
      if (install)
        return {
          ...generated,
          webhooks: webhooks.map((one) => ({
            ...one,
            clientConfig: { ...one.clientConfig, ...withBundle(caBundle) },
          })),
        };
      const ours = object === undefined ? [] : oursIn(object);
      if (ours.length === 0 || caBundle === undefined) return undefined;
      return {
        apiVersion: generated.apiVersion,
        kind: generated.kind,
        metadata: { name },
        webhooks: ours.map((one) => ({ name: one.name, clientConfig: { caBundle } })),
      };
    },
  };
}

/** A CustomResourceDefinition whose versions are converted here. It is never made, only told where to. */
export function conversionTarget(
  crd: { readonly group: string; readonly plural: string },
  where: Where,
  { install }: { readonly install: boolean },
): TrustTarget {
  const name = `${crd.plural}.${crd.group}`;
  const conversionOf = (object: KubernetesObject | undefined) =>
    (object as ObjectOf<typeof CustomResourceDefinition> | undefined)?.spec.conversion;
  const isOurs = (object: KubernetesObject | undefined) =>
    conversionOf(object)?.strategy === "Webhook" &&
    leadsTo(where, conversionOf(object)?.webhook?.clientConfig);
  const head = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
  };
  return {
    kind: CustomResourceDefinition,
    name,
    astray: (object) =>
      install || isOurs(object)
        ? undefined
        : `its versions are not converted at ${shown(where)}: apply what crd({ conversion: webhooks.conversion() }) makes, or set install`,
    bundlesIn: (object) =>
      isOurs(object) ? [conversionOf(object)?.webhook?.clientConfig?.caBundle ?? ""] : [],
    wanted(object, caBundle) {
      if (object === undefined) return undefined;
      const bundle = caBundle === undefined ? {} : { caBundle };
      if (install) {
        const webhook = {
          conversionReviewVersions: ["v1"],
          clientConfig: { ...clientConfigFor(where, conversionPath), ...bundle },
        };
        return { ...head, spec: { conversion: { strategy: "Webhook", webhook } } };
      }
      if (!isOurs(object) || caBundle === undefined) return undefined;
      return { ...head, spec: { conversion: { webhook: { clientConfig: bundle } } } };
    },
  };
}
