import type { Manifest } from "@windlass/client";
import type { CustomResourceConversion, CustomResourceDefinitionInput } from "@windlass/kinds/builtin";
import type { Link } from "./conversion.ts";
import type { ResourceDefinition } from "./definition.ts";
import { isProtectedGroup, type ResourceNames } from "./names.ts";
import { Problems } from "./refusal.ts";
import { versionEntry } from "./version-entry.ts";

/** Where the API server finds the conversion webhook. */
export type ConversionWebhook = (
  | {
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        /** @default "/convert" */
        readonly path?: string;
        /** @default 443 */
        readonly port?: number;
      };
    }
  | {
      /** For a webhook outside the cluster. */
      readonly url: string;
    }
) & {
  /**
   * The certificate authority that signed the webhook's certificate: PEM, in base64.
   *
   * @default the server's own roots
   */
  readonly caBundle?: string;
};

/** What a CustomResourceDefinition has besides what its resource says. */
export interface CrdOptions {
  /** Labels of the CustomResourceDefinition itself. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the CustomResourceDefinition itself. @default none */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Where objects are converted between versions; a kind with several must say. `None` changes the
   * `apiVersion` and nothing else, which suits versions whose schemas are the same.
   */
  readonly conversion?: ConversionWebhook | "None";
}

/**
 * A CustomResourceDefinition that says itself what it is: ready to be applied, or written to a
 * file.
 */
export type CrdManifest = CustomResourceDefinitionInput & Manifest;

interface Parts {
  readonly names: ResourceNames;
  readonly scope: "Namespaced" | "Cluster";
  readonly definition: ResourceDefinition;
  readonly links: readonly Link[];
}

const approval = "api-approved.kubernetes.io";

/**
 * Puts a CustomResourceDefinition together, or throws with everything that an API server would
 * refuse.
 */
export function customResourceDefinition(parts: Parts, options: CrdOptions): CrdManifest {
  const { names, scope, definition, links } = parts;
  const { labels, annotations } = options;
  const problems = new Problems();
  if (isProtectedGroup(names.group) && annotations?.[approval] === undefined) {
    problems.add(
      "group",
      `${names.group} belongs to Kubernetes, which takes such kinds only with the annotation ${approval}; use a domain of your own`,
    );
  }
  const conversion = conversionOf(links, options.conversion, problems);
  const stored = versionEntry(definition, true, problems);
  problems.settle(`${names.kind} (${names.group}/${names.version})`);
  const others = links.map(({ other }) => {
    const faults = new Problems();
    const entry = versionEntry(other.definition, false, faults);
    faults.settle(`${names.kind} (${names.group}/${other.version})`);
    return entry;
  });
  const { group, plural, singular, kind, shortNames, categories } = names;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length === 0 ? {} : { shortNames }),
        ...(categories.length === 0 ? {} : { categories }),
      },
      scope,
      versions: [stored, ...others],
      ...(conversion === undefined ? {} : { conversion }),
    },
  };
}

function conversionOf(
  links: readonly Link[],
  wanted: ConversionWebhook | "None" | undefined,
  problems: Problems,
): CustomResourceConversion | undefined {
  if (links.length === 0) return undefined;
  if (wanted === undefined) {
    problems.add(
      "conversion",
      'the kind has several versions: say where they are converted, crd({ conversion: { service: { namespace, name } } }), or "None" where their schemas are the same',
    );
    return undefined;
  }
  if (wanted === "None") return { strategy: "None" };
  const { caBundle } = wanted;
  const where = "url" in wanted ? { url: wanted.url } : { service: { path: "/convert", ...wanted.service } };
  if ("url" in wanted && !wanted.url.startsWith("https://")) {
    problems.add("conversion.url", `${JSON.stringify(wanted.url)} must start with https://`);
  }
  return {
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: { ...where, ...(caBundle === undefined ? {} : { caBundle }) },
    },
  };
}
