import { type FieldLocation, thingGroup } from "./cases.ts";
import type { Sending } from "./servers.ts";

/** A policy with its binding, and what is sent past it. */
export interface PolicyCase {
  readonly name: string;
  readonly policy: Record<string, unknown>;
  readonly binding?: Record<string, unknown>;
  readonly sendings?: (at: FieldLocation) => readonly Sending[];
}

function validation(expression: string, rest: object = {}): Record<string, unknown> {
  return { validations: [{ expression, ...rest }] };
}

/**
 * A kind that is new in each run: the real server keeps what it once knew of the parameters of
 * built-in kinds.
 */
const params = { paramKind: { apiVersion: `${thingGroup}/v1`, kind: "Thing" } };

export const policyCases: readonly PolicyCase[] = [
  { name: "holds", policy: validation("object.data.a == '1'") },
  { name: "fails", policy: validation("object.data.a == '2'") },
  { name: "fails-message", policy: validation("object.data.a == '2'", { message: " it must be two " }) },
  {
    name: "fails-expression",
    policy: validation("object.data.a == '2'", {
      messageExpression: "'a is ' + object.data.a + ' in ' + namespaceObject.metadata.name.substring(0, 6)",
    }),
  },
  {
    name: "fails-bad-expression",
    policy: validation("object.data.a == '2'", {
      message: "plain",
      messageExpression: "object.data.q" + " + 'x'",
    }),
  },
  { name: "reason-forbidden", policy: validation("false", { reason: "Forbidden" }) },
  { name: "reason-large", policy: validation("false", { reason: "RequestEntityTooLarge" }) },
  { name: "error", policy: validation("object.data.q == '2'") },
  { name: "error-ignored", policy: { ...validation("object.data.q == '2'"), failurePolicy: "Ignore" } },
  { name: "old", policy: validation("oldObject == null") },
  { name: "request", policy: validation("request.operation == 'UPDATE' && request.name == 'x'") },
  { name: "has", policy: validation("!has(object.data) || size(object.data) > 5") },
  {
    name: "two",
    policy: {
      validations: [
        { expression: "object.data.a == '2'", message: "first" },
        { expression: "object.data.a == '3'", message: "second" },
      ],
    },
  },
  {
    name: "warns",
    policy: validation("false", { message: "careful" }),
    binding: { validationActions: ["Warn"] },
  },
  { name: "audits", policy: validation("false"), binding: { validationActions: ["Audit"] } },
  {
    name: "warns-and-audits",
    policy: validation("false", { message: "careful" }),
    binding: { validationActions: ["Warn", "Audit"] },
  },
  {
    name: "variables",
    policy: {
      variables: [
        { name: "a", expression: "object.data.a" },
        { name: "twice", expression: "variables.a + variables.a" },
        { name: "never", expression: "object.data.nothing" },
      ],
      validations: [
        {
          expression: "variables.twice == '11' ? false : variables.never == ''",
          messageExpression: "'twice is ' + variables.twice",
        },
      ],
    },
  },
  {
    name: "variable-fails",
    policy: {
      variables: [{ name: "never", expression: "object.data.nothing" }],
      validations: [{ expression: "variables.never == ''" }],
    },
  },
  {
    name: "condition",
    policy: { ...validation("false"), matchConditions: [{ name: "no", expression: "object.data.a == '2'" }] },
  },
  {
    name: "condition-fails",
    policy: { ...validation("false"), matchConditions: [{ name: "no", expression: "object.data.q == '2'" }] },
  },
  {
    name: "asks",
    policy: validation(
      "!authorizer.group('').resource('configmaps').namespace('default').check('list').allowed()",
    ),
  },
  { name: "asks-self", policy: validation("!authorizer.requestResource.check('create').allowed()") },
  {
    name: "params",
    policy: {
      ...params,
      ...validation("object.data.a == params.spec.a", {
        messageExpression: "'wanted ' + params.spec.a",
      }),
    },
    binding: { paramRef: { name: "wanted", parameterNotFoundAction: "Deny" } },
  },
  {
    name: "params-missing",
    policy: { ...params, ...validation("true") },
    binding: { paramRef: { name: "nowhere", parameterNotFoundAction: "Deny" } },
  },
  {
    name: "params-missing-allowed",
    policy: { ...params, ...validation("false") },
    binding: { paramRef: { name: "nowhere", parameterNotFoundAction: "Allow" } },
  },
  {
    name: "params-selected",
    policy: { ...params, ...validation("params.spec.a == '2'") },
    binding: { paramRef: { selector: { matchLabels: { role: "params" } }, parameterNotFoundAction: "Deny" } },
  },
  { name: "params-none", policy: { ...params, ...validation("params != null") } },
  {
    name: "params-unknown",
    policy: { paramKind: { apiVersion: "nowhere.example.com/v1", kind: "Nothing" }, ...validation("true") },
    binding: { paramRef: { name: "x", parameterNotFoundAction: "Deny" } },
  },
  {
    name: "generated",
    policy: validation("false"),
    sendings: (at) => [
      {
        method: "POST",
        path: `/api/v1/namespaces/${at.namespace}/configmaps`,
        body: { metadata: { generateName: "gen-", labels: at.labels } },
      },
    ],
  },
  {
    name: "costly",
    policy: validation(
      "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, object.data.a != 'q'))))))",
    ),
  },
];
