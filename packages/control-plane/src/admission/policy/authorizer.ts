import { serviceAccountUser } from "../../auth/identity.ts";
import type { Attributes, Authorizer, Decision, User } from "../../auth/index.ts";
import { method, type Overload } from "../../cel/functions.ts";
import { BOOL, type ObjectType, opaque, STRING } from "../../cel/types.ts";
import { CelError, CelMap, Opaque } from "../../cel/values.ts";

const authorizerType = "kubernetes.authorization.Authorizer";

/** `authorizer`: asks whether somebody may do something. `authorizer.requestResource` is a field of it. */
export class AuthorizerValue extends CelMap {
  readonly authorizer: Authorizer;
  readonly user: User;

  constructor(authorizer: Authorizer, user: User) {
    super(authorizerType);
    this.authorizer = authorizer;
    this.user = user;
  }
}

class GroupCheck extends Opaque {
  readonly typeName = "kubernetes.authorization.GroupCheck";
  readonly by: AuthorizerValue;
  readonly group: string;

  constructor(by: AuthorizerValue, group: string) {
    super();
    this.by = by;
    this.group = group;
  }

  equals(other: Opaque): boolean {
    return this === other;
  }
}

type ResourceQuestion = Extract<Attributes, { readonly resource: string }>;

/** `authorizer.requestResource`, and what `authorizer.group(…).resource(…)` makes. */
export class ResourceCheck extends Opaque {
  readonly typeName = "kubernetes.authorization.ResourceCheck";
  readonly by: AuthorizerValue;
  readonly question: Omit<ResourceQuestion, "verb">;

  constructor(by: AuthorizerValue, question: Omit<ResourceQuestion, "verb">) {
    super();
    this.by = by;
    this.question = question;
  }

  with(part: Partial<Omit<ResourceQuestion, "verb">>): ResourceCheck {
    return new ResourceCheck(this.by, { ...this.question, ...part });
  }

  equals(other: Opaque): boolean {
    return this === other;
  }
}

class PathCheck extends Opaque {
  readonly typeName = "kubernetes.authorization.PathCheck";
  readonly by: AuthorizerValue;
  readonly path: string;

  constructor(by: AuthorizerValue, path: string) {
    super();
    this.by = by;
    this.path = path;
  }

  equals(other: Opaque): boolean {
    return this === other;
  }
}

class DecisionValue extends Opaque {
  readonly typeName = "kubernetes.authorization.Decision";
  readonly decision: Decision;

  constructor(decision: Decision) {
    super();
    this.decision = decision;
  }

  equals(other: Opaque): boolean {
    return this === other;
  }
}

const RESOURCE_CHECK = opaque("kubernetes.authorization.ResourceCheck");
const GROUP_CHECK = opaque("kubernetes.authorization.GroupCheck");
const PATH_CHECK = opaque("kubernetes.authorization.PathCheck");
const DECISION = opaque("kubernetes.authorization.Decision");
export const AUTHORIZER: ObjectType = {
  kind: "object",
  name: authorizerType,
  fields: new Map([["requestResource", RESOURCE_CHECK]]),
};

/** A check asks the authorizer, which the real server reckons at this much. */
const checkCost = { cost: () => 350_000 };

/** What expressions of admission may ask of `authorizer`. */
export const AUTHORIZATION: readonly Overload[] = [
  method("path", [AUTHORIZER, STRING], PATH_CHECK, (by: AuthorizerValue, path: string) => {
    if (path === "") throw new CelError("path must not be empty");
    return new PathCheck(by, path);
  }),
  method(
    "group",
    [AUTHORIZER, STRING],
    GROUP_CHECK,
    (by: AuthorizerValue, group: string) => new GroupCheck(by, group),
  ),
  method(
    "serviceAccount",
    [AUTHORIZER, STRING, STRING],
    AUTHORIZER,
    (by: AuthorizerValue, namespace: string, name: string) =>
      new AuthorizerValue(by.authorizer, serviceAccountUser(namespace, name)),
  ),
  method("resource", [GROUP_CHECK, STRING], RESOURCE_CHECK, (check: GroupCheck, resource: string) => {
    if (resource === "") throw new CelError("resource must not be empty");
    return new ResourceCheck(check.by, { group: check.group, resource });
  }),
  method(
    "subresource",
    [RESOURCE_CHECK, STRING],
    RESOURCE_CHECK,
    (check: ResourceCheck, subresource: string) => check.with({ subresource }),
  ),
  method("namespace", [RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck, namespace: string) =>
    check.with({ namespace }),
  ),
  method("name", [RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck, name: string) =>
    check.with({ name }),
  ),
  // Roles cannot speak of selectors: they change nothing in a decision by roles.
  method("fieldSelector", [RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck) => check),
  method("labelSelector", [RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck) => check),
  method(
    "check",
    [PATH_CHECK, STRING],
    DECISION,
    ({ by, path }: PathCheck, verb: string) =>
      new DecisionValue(by.authorizer.authorize(by.user, { verb, path })),
    checkCost,
  ),
  method(
    "check",
    [RESOURCE_CHECK, STRING],
    DECISION,
    ({ by, question }: ResourceCheck, verb: string) =>
      new DecisionValue(by.authorizer.authorize(by.user, { ...question, verb })),
    checkCost,
  ),
  method("errored", [DECISION], BOOL, () => false),
  method("error", [DECISION], STRING, () => ""),
  method("allowed", [DECISION], BOOL, ({ decision }: DecisionValue) => decision.allowed),
  method("reason", [DECISION], STRING, ({ decision }: DecisionValue) => decision.reason ?? ""),
];
