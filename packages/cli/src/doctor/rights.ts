import { type Client, isForbidden } from "@windlass/client";
import type { PolicyRule } from "@windlass/runtime";
import { SubjectAccessReview } from "@windlass/runtime/kinds";
import { accessObjects } from "../generate/objects/access.ts";
import { plainRendering } from "../generate/rendering.ts";
import type { Component, Operator } from "../generate/resolve.ts";
import { type Finding, fault, fine, skipped } from "./finding.ts";

/** Something that a service account must be allowed to do. */
interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  /** Undefined for all. */
  readonly namespace: string | undefined;
}

/** How many questions are asked at a time. */
const breadth = 10;

/** Whether a component's service account may do all that its controllers and webhooks need. */
export async function examineRights(
  client: Client,
  operator: Operator,
  component: Component,
  namespace: string,
): Promise<Finding> {
  const about = `Rights of ${component.name}`;
  const rights = rightsOf(operator, component, namespace);
  const user = `system:serviceaccount:${namespace}:${component.name}`;
  const missing: Right[] = [];
  try {
    for (let at = 0; at < rights.length; at += breadth) {
      const some = rights.slice(at, at + breadth);
      const allowed = await Promise.all(some.map((right) => isAllowed(client, user, right)));
      missing.push(...some.filter((_, index) => !allowed[index]));
    }
  } catch (error) {
    if (isForbidden(error)) return skipped(about, "only those may ask who may create subjectaccessreviews");
    throw error;
  }
  if (missing.length === 0) return fine(about, `all ${rights.length} that it needs`);
  return fault(
    about,
    `may not ${describe(missing)}`,
    "npx windlass generate, then: kubectl apply --server-side -k config/default",
  );
}

async function isAllowed(client: Client, user: string, right: Right): Promise<boolean> {
  const { verb, group, resource, subresource, name, namespace } = right;
  const review = await client.create(SubjectAccessReview, {
    metadata: {},
    spec: {
      user,
      groups: ["system:serviceaccounts", "system:authenticated"],
      resourceAttributes: {
        verb,
        group,
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        ...(name === undefined ? {} : { name }),
        ...(namespace === undefined ? {} : { namespace }),
      },
    },
  });
  return review.status?.allowed === true;
}

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

/** What the roles that are bound to a component's account grant, one by one. */
function rightsOf(operator: Operator, component: Component, namespace: string): readonly Right[] {
  const objects = accessObjects(operator, { ...plainRendering(operator), namespace }) as readonly Role[];
  const bound = objects.filter(({ subjects }) => subjects?.some(({ name }) => name === component.name));
  const isBound = ({ kind, metadata }: Role) =>
    bound.some(
      ({ roleRef, metadata: { namespace: where } }) =>
        roleRef?.kind === kind && roleRef.name === metadata.name && where === metadata.namespace,
    );
  return objects
    .filter(({ rules }) => rules !== undefined)
    .filter(isBound)
    .flatMap(({ rules = [], metadata }) => rules.flatMap((rule) => rightsIn(rule, metadata.namespace)));
}

function rightsIn(
  { verbs, apiGroups, resources, resourceNames }: PolicyRule,
  namespace: string | undefined,
): readonly Right[] {
  const names = resourceNames ?? [undefined];
  return verbs.flatMap((verb) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) => {
        const [resource = "", subresource] = path.split("/");
        return names.map((name) => ({
          verb,
          group,
          resource,
          namespace,
          ...(subresource === undefined ? {} : { subresource }),
          ...(name === undefined ? {} : { name }),
        }));
      }),
    ),
  );
}

/** All rights in one sentence, the verbs for a resource together. */
function describe(rights: readonly Right[]): string {
  const verbsOf = Map.groupBy(rights, objectOf);
  return [...verbsOf]
    .map(([object, some]) => `${some.map(({ verb }) => verb).join(", ")} ${object}`)
    .join("; ");
}

function objectOf({ group, resource, subresource, name, namespace }: Right): string {
  return [
    subresource === undefined ? resource : `${resource}/${subresource}`,
    group === "" ? "" : ` of ${group}`,
    name === undefined ? "" : ` named ${name}`,
    namespace === undefined ? "" : ` in ${namespace}`,
  ].join("");
}
