import { method, type Overload } from "../functions.ts";
import { BOOL, opaque, STRING } from "../types.ts";
import { CelError, Opaque } from "../values.ts";

/** What an expression asks the authorizer. Paths have no resource, resources no path. */
export interface AccessQuestion {
  readonly verb: string;
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** `namespace/name` of the account asked about; the user of the request when absent. */
  readonly serviceAccount?: string;
}

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why the question could not be answered. */
  readonly error?: string;
}

/** Answers what `authorizer` is asked. */
export type Authorize = (question: AccessQuestion) => AccessAnswer;

const AUTHORIZER = opaque("kubernetes.authorization.Authorizer");
const PATH = opaque("kubernetes.authorization.PathCheck");
const GROUP = opaque("kubernetes.authorization.GroupCheck");
const RESOURCE = opaque("kubernetes.authorization.ResourceCheck");
const DECISION = opaque("kubernetes.authorization.Decision");

/** A question being put together, step by step. */
class Question extends Opaque {
  readonly typeName: string;
  readonly authorize: Authorize;
  readonly asked: Omit<AccessQuestion, "verb">;

  constructor(typeName: string, authorize: Authorize, asked: Omit<AccessQuestion, "verb">) {
    super();
    this.typeName = typeName;
    this.authorize = authorize;
    this.asked = asked;
  }

  with(typeName: string, asked: Omit<AccessQuestion, "verb">): Question {
    return new Question(typeName, this.authorize, { ...this.asked, ...asked });
  }

  equals(other: Opaque): boolean {
    return other === this;
  }
}

class Decision extends Opaque {
  readonly typeName = "kubernetes.authorization.Decision";
  readonly answer: AccessAnswer;

  constructor(answer: AccessAnswer) {
    super();
    this.answer = answer;
  }

  equals(other: Opaque): boolean {
    return other === this;
  }
}

/** The value of the variable `authorizer`. */
export function authorizerOf(authorize: Authorize): Opaque {
  return new Question(named("Authorizer"), authorize, {});
}

/** One check costs so much that an expression can make two. */
const CHECK_COST = { cost: (): number => 350_000 };

function check(question: Question, verb: string): Decision {
  return new Decision(question.authorize({ ...question.asked, verb }));
}

const named = (type: string): string => `kubernetes.authorization.${type}`;

/** The functions on `authorizer`, for admission policies and match conditions. */
export const AUTHORIZATION: readonly Overload[] = [
  method("path", [AUTHORIZER, STRING], PATH, (of: Question, path: string) => {
    if (path === "") throw new CelError("path must not be empty");
    return of.with(named("PathCheck"), { path });
  }),
  method("group", [AUTHORIZER, STRING], GROUP, (of: Question, group: string) =>
    of.with(named("GroupCheck"), { group }),
  ),
  method(
    "serviceAccount",
    [AUTHORIZER, STRING, STRING],
    AUTHORIZER,
    (of: Question, namespace: string, name: string) =>
      of.with(named("Authorizer"), { serviceAccount: `${namespace}/${name}` }),
  ),
  method("resource", [GROUP, STRING], RESOURCE, (of: Question, resource: string) =>
    of.with(named("ResourceCheck"), { resource }),
  ),
  method("subresource", [RESOURCE, STRING], RESOURCE, (of: Question, subresource: string) =>
    of.with(named("ResourceCheck"), { subresource }),
  ),
  method("namespace", [RESOURCE, STRING], RESOURCE, (of: Question, namespace: string) =>
    of.with(named("ResourceCheck"), { namespace }),
  ),
  method("name", [RESOURCE, STRING], RESOURCE, (of: Question, name: string) =>
    of.with(named("ResourceCheck"), { name }),
  ),
  method("check", [PATH, STRING], DECISION, check, CHECK_COST),
  method("check", [RESOURCE, STRING], DECISION, check, CHECK_COST),
  method("allowed", [DECISION], BOOL, (decision: Decision) => decision.answer.allowed),
  method("reason", [DECISION], STRING, (decision: Decision) => decision.answer.reason),
  method("errored", [DECISION], BOOL, (decision: Decision) => decision.answer.error !== undefined),
  method("error", [DECISION], STRING, (decision: Decision) => decision.answer.error ?? ""),
];
