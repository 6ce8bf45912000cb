import { declare } from "../../cel/declare.ts";
import { compileCel } from "../../cel/expression.ts";
import { AUTHORIZER } from "../../cel/library/authorizer.ts";
import { KUBERNETES } from "../../cel/library/index.ts";
import { DYN, type Type } from "../../cel/types.ts";
import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import { type GroupVersionKind, type KindInfo, schemaOfType } from "../../kinds/index.ts";
import type { Matcher } from "../../patterns/index.ts";
import type { Registry } from "../../registry/registry.ts";
import { NAMESPACE, REQUEST } from "./request-type.ts";

/** No policy is checked against more kinds than this. */
const mostKinds = 10;

/**
 * What is wrong with a policy's validations for the kinds it names: warnings, as expressions
 * may still be right for others.
 *
 * @throws MatchPending
 */
export function typeWarnings(
  policy: JsonObject,
  registry: Pick<Registry, "kinds">,
  matcher: Matcher,
): JsonObject[] {
  const kinds = kindsOf(policy, registry);
  const validations = list(valueAt(policy, "spec", "validations"));
  const places = validations.flatMap(({ expression, messageExpression }, index) => [
    { fieldRef: `spec.validations[${index}].expression`, text: textOf(expression) },
    { fieldRef: `spec.validations[${index}].messageExpression`, text: textOf(messageExpression) },
  ]);
  const environments = kinds.map((info) => ({
    info,
    variables: variablesFor(policy, info, registry, matcher),
  }));
  return places
    .filter(({ text }) => text !== "")
    .flatMap(({ fieldRef, text }) => {
      const found = environments.flatMap(({ info, variables }) => {
        const { errors } = compileCel(text, { variables, library: KUBERNETES, matcher });
        return errors === undefined ? [] : [`${kindText(info)}: ${errors}\n`];
      });
      return found.length === 0 ? [] : [{ fieldRef, warning: found.join("\n") }];
    });
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function kindText({ group, version, kind }: GroupVersionKind): string {
  return `${group === "" ? "" : `${group}/`}${version}, Kind=${kind}`;
}

/** The kinds that a policy's rules name. Rules with a star name none. */
function kindsOf(policy: JsonObject, { kinds }: Pick<Registry, "kinds">): KindInfo[] {
  const found = new Map<string, KindInfo>();
  for (const rule of list(valueAt(policy, "spec", "matchConstraints", "resourceRules"))) {
    const names = (part: string) => {
      const all = (Array.isArray(rule[part]) ? rule[part] : []).map(textOf);
      return all.includes("*") ? [] : all.filter((name) => !name.includes("/")).sort();
    };
    for (const group of names("apiGroups")) {
      for (const version of names("apiVersions")) {
        for (const resource of names("resources")) {
          const info = kinds.byResource(group, version, resource);
          if (info && found.size < mostKinds) found.set(kindText(info), info);
        }
      }
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, info]) => info);
}

function variablesFor(
  policy: JsonObject,
  info: KindInfo,
  { kinds }: Pick<Registry, "kinds">,
  matcher: Matcher,
): Map<string, Type> {
  const object = typeOf(info);
  const variables = new Map<string, Type>([
    ["object", object],
    ["oldObject", object],
    ["request", REQUEST],
    ["namespaceObject", NAMESPACE],
    ["authorizer", AUTHORIZER],
  ]);
  const paramKind = valueAt(policy, "spec", "paramKind");
  if (isObject(paramKind)) {
    const param = [...kinds.all()].find(
      (one) =>
        one.kind === paramKind.kind &&
        `${one.group === "" ? "" : `${one.group}/`}${one.version}` === paramKind.apiVersion,
    );
    variables.set("params", param ? typeOf(param) : DYN);
  }
  const composed = new Map<string, Type>();
  variables.set("variables", { kind: "object", name: "kubernetes.variables", fields: composed });
  for (const { name, expression } of list(valueAt(policy, "spec", "variables"))) {
    const compiled = compileCel(textOf(expression), { variables, library: KUBERNETES, matcher });
    composed.set(textOf(name), compiled.errors === undefined ? compiled.type : DYN);
  }
  return variables;
}

const objectMeta = "meta.v1.ObjectMeta";

/**
 * The type that a kind's schema gives its objects. Definitions' own schema has no end, so anything
 * may be in them.
 */
function typeOf(info: KindInfo): Type {
  if (info.group === "apiextensions.k8s.io") return DYN;
  const schema = info.schema();
  const whole =
    info.origin === "builtin"
      ? schema
      : {
          ...schema,
          properties: {
            ...schema.properties,
            apiVersion: { type: "string" as const },
            kind: { type: "string" as const },
            metadata: schemaOfType(objectMeta),
          },
        };
  return declare(whole, false)?.type ?? DYN;
}
