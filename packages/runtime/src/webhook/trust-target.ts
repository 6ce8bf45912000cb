import type { AnyKind, KubernetesObject, ObjectOf } from "@windlass/client";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@windlass/kinds/builtin";
import { clientConfigFor, type WebhookConfiguration, type Where } from "./configurations.ts";
import { conversionPath } from "./dispatch.ts";

/**
 * An object that tells the API server whom to call, and so must hold the authority of our
 * certificate.
 */
export interface TrustTarget {
  readonly kind: AnyKind;
  readonly name: string;
  /** What to do about an object that is there and does not lead to us; undefined if it does. */
  astray(object: KubernetesObject): string | undefined;
  /**
   * The `caBundle`s of those of its entries that lead to us, in base64; empty where there is none.
   */
  bundlesIn(object: KubernetesObject): readonly string[];
  /**
   * What to apply: the object's part that is ours, with this bundle.
   *
   * @param object as it is; undefined when there is none
   * @param caBundle in base64; undefined for none
   * @returns undefined when there is nothing to apply it to
   */
  wanted(object: KubernetesObject | undefined, caBundle: string | undefined): object | undefined;
  /**
   * Where entries that are ours to make lead to us by a Service, or by a URL, and to somebody by
   * the other: an object must not have both, and applying takes nothing away that somebody else
   * applied. So these are to be replaced, each by what it is to be.
   */
  contradictions(object: KubernetesObject, caBundle: string | undefined): readonly Replacement[];
}

/** What is to stand at a path of an object, as in a JSON patch. */
export interface Replacement {
  readonly path: string;
  readonly value: unknown;
}

interface ClientConfig {
  readonly url?: string;
  readonly service?: { readonly name: string; readonly namespace: string };
  readonly caBundle?: string;
}

/** Whether a `clientConfig` says in the other way whom to call. */
function contradicts(where: Where, config: ClientConfig | undefined): boolean {
  return ("url" in where ? config?.service : config?.url) !== undefined;
}

/** Whether a `clientConfig` routes to us. */
function leadsTo(where: Where, config: ClientConfig | undefined): boolean {
  if ("url" in where) return config?.url?.startsWith(`${where.url}/`) ?? false;
  const { name, namespace } = where.service;
  return config?.service?.name === name && config.service.namespace === namespace;
}

function shown(where: Where): string {
  return "url" in where ? where.url : `Service ${where.service.namespace}/${where.service.name}`;
}

/**
 * A webhook configuration. With `install` it is made and kept as generated; otherwise only the
 * bundle is put in.
 */
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
  const madeWith = (caBundle: string | undefined) =>
    webhooks.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, ...bundled(caBundle) } }));
  return {
    kind,
    name,
    astray: (object) =>
      install || oursIn(object).length > 0
        ? undefined
        : `none of its webhooks routes to ${shown(where)}: apply what configurations() generates, or set install`,
    bundlesIn: (object) => oursIn(object).map(({ clientConfig }) => clientConfig.caBundle ?? ""),
    wanted(object, caBundle) {
      if (install) return { ...generated, webhooks: madeWith(caBundle) };
      const ours = object === undefined ? [] : oursIn(object);
      if (ours.length === 0 || caBundle === undefined) return undefined;
      return {
        apiVersion: generated.apiVersion,
        kind: generated.kind,
        metadata: { name },
        webhooks: ours.map((one) => ({ name: one.name, clientConfig: { caBundle } })),
      };
    },
    contradictions(object, caBundle) {
      if (!install) return [];
      const made = new Map(madeWith(caBundle).map((one) => [one.name, one.clientConfig]));
      const present = (object as ObjectOf<typeof ValidatingWebhookConfiguration>).webhooks ?? [];
      return present.flatMap((one, index) => {
        const value = made.get(one.name);
        if (!value || !contradicts(where, one.clientConfig)) return [];
        return [{ path: `/webhooks/${index}/clientConfig`, value }];
      });
    },
  };
}

function bundled(caBundle: string | undefined): { readonly caBundle?: string } {
  return caBundle === undefined ? {} : { caBundle };
}

/**
 * A CustomResourceDefinition whose versions are converted here. It is never made, only told where
 * to.
 */
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
  const madeWith = (caBundle: string | undefined) => ({
    ...clientConfigFor(where, conversionPath),
    ...bundled(caBundle),
  });
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
      if (install) {
        const webhook = { conversionReviewVersions: ["v1"], clientConfig: madeWith(caBundle) };
        return { ...head, spec: { conversion: { strategy: "Webhook", webhook } } };
      }
      if (!isOurs(object) || caBundle === undefined) return undefined;
      return { ...head, spec: { conversion: { webhook: { clientConfig: { caBundle } } } } };
    },
    contradictions(object, caBundle) {
      if (!install || !contradicts(where, conversionOf(object)?.webhook?.clientConfig)) return [];
      return [{ path: "/spec/conversion/webhook/clientConfig", value: madeWith(caBundle) }];
    },
  };
}
