import { method, type Overload } from "../functions.ts";
import { BOOL, type ObjectType, opaque, STRING } from "../types.ts";
import { CelError, CelMap, Opaque } from "../values.ts";

/** What an expression asks the authorizer. Paths have no resource, resources no path. */
export interface AccessQuestion {
  readonly verb: string;
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The account asked about; the user of the request when absent. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why the question could not be answered. */
  readonly error?: string;
}

/** Answers what `authorizer` is asked. */
export type Authorize = (question: AccessQuestion) => AccessAnswer;

/** A question that lacks only what is to be done. */
export type ResourceQuestion = Omit<AccessQuestion, "verb" | "path">;

const prefix = "kubernetes.authorization.";
const PATH = opaque(`${prefix}PathCheck`);
const GROUP = opaque(`${prefix}GroupCheck`);
const RESOURCE = opaque(`${prefix}ResourceCheck`);
const DECISION = opaque(`${prefix}Decision`);

/**
 * The type of the variable `authorizer`. Its one field is a check of the request that a
 * request is about.
 */
export const AUTHORIZER: ObjectType = {
  kind: "object",
  name: `${prefix}Authorizer`,
  fields: new Map([["requestResource", RESOURCE]]),
};

class AuthorizerValue extends CelMap {
  readonly authorize: Authorize;
  readonly asked: Omit<AccessQuestion, "verb">;

  constructor(authorize: Authorize, asked: Omit<AccessQuestion, "verb">) {
    super(AUTHORIZER.name);
    this.authorize = authorize;
    this.asked = asked;
  }
}

/** A question being put together, step by step. */
class Question extends Opaque {
  readonly typeName: string;
  readonly authorize: Authorize;
  readonly asked: Omit<AccessQuestion, "verb">;

  constructor(step: string, authorize: Authorize, asked: Omit<AccessQuestion, "verb">) {
    super();
    this.typeName = `${prefix}${step}`;
    this.authorize = authorize;
    this.asked = asked;
  }

  equals(other: Opaque): boolean {
    return other === this;
  }
}

class Decision extends Opaque {
  readonly typeName = `${prefix}Decision`;
  readonly answer: AccessAnswer;

  constructor(answer: AccessAnswer) {
    super();
    this.answer = answer;
  }

  equals(other: Opaque): boolean {
    return other === this;
  }
}

/**
 * The value of the variable `authorizer`.
 *
 * @param about what `authorizer.requestResource` asks about
 */
export function authorizerOf(authorize: Authorize, about?: ResourceQuestion): CelMap {
  const value = new AuthorizerValue(authorize, {});
  if (about) value.set("requestResource", new Question("ResourceCheck", authorize, about));
  return value;
}

/** One check costs so much that an expression can make two. */
const checkCost = { cost: (): number => 350_000 };

function check({ authorize, asked }: Question, verb: string): Decision {
  return new Decision(authorize({ ...asked, verb }));
}

function next(
  step: string,
  { authorize, asked }: Question | AuthorizerValue,
  more: Omit<AccessQuestion, "verb">,
): Question {
  return new Question(step, authorize, { ...asked, ...more });
}

/** The functions on `authorizer`, for admission policies and match conditions. */
export const AUTHORIZATION: readonly Overload[] = [
  method("path", [AUTHORIZER, STRING], PATH, (of: AuthorizerValue, path: string) => {
    if (path === "") throw new CelError("path must not be empty");
    return next("PathCheck", of, { path });
  }),
  method("group", [AUTHORIZER, STRING], GROUP, (of: AuthorizerValue, group: string) =>
    next("GroupCheck", of, { group }),
  ),
  method(
    "serviceAccount",
    [AUTHORIZER, STRING, STRING],
    AUTHORIZER,
    ({ authorize, asked }: AuthorizerValue, namespace: string, name: string) =>
      new AuthorizerValue(authorize, { ...asked, serviceAccount: { namespace, name } }),
  ),
  method("resource", [GROUP, STRING], RESOURCE, (of: Question, resource: string) => {
    if (resource === "") throw new CelError("resource must not be empty");
    return next("ResourceCheck", of, { resource });
  }),
  method("subresource", [RESOURCE, STRING], RESOURCE, (of: Question, subresource: string) =>
    next("ResourceCheck", of, { subresource }),
  ),
  method("namespace", [RESOURCE, STRING], RESOURCE, (of: Question, namespace: string) =>
    next("ResourceCheck", of, { namespace }),
  ),
  method("name", [RESOURCE, STRING], RESOURCE, (of: Question, name: string) =>
    next("ResourceCheck", of, { name }),
  ),
  // Roles cannot speak of selectors: they change nothing in a decision by roles.
  method("fieldSelector", [RESOURCE, STRING], RESOURCE, (of: Question) => of),
  method("labelSelector", [RESOURCE, STRING], RESOURCE, (of: Question) => of),
  method("check", [PATH, STRING], DECISION, check, checkCost),
  method("check", [RESOURCE, STRING], DECISION, check, checkCost),
  method("allowed", [DECISION], BOOL, (decision: Decision) => decision.answer.allowed),
  method("reason", [DECISION], STRING, (decision: Decision) => decision.answer.reason),
  method("errored", [DECISION], BOOL, (decision: Decision) => decision.answer.error !== undefined),
  method("error", [DECISION], STRING, (decision: Decision) => decision.answer.error ?? ""),
];
