import type { Authorizer, User } from "../../auth/index.ts";
import { fromJson } from "../../cel/convert.ts";
import { type Compilation, compileCel } from "../../cel/expression.ts";
import { AUTHORIZER, authorizerOf, type ResourceQuestion } from "../../cel/library/authorizer.ts";
import { KUBERNETES } from "../../cel/library/index.ts";
import { COST_PER_TURN, CostExceeded, Meter } from "../../cel/meter.ts";
import { BOOL, DYN, NULL, STRING, type Type, typeName } from "../../cel/types.ts";
import { CelError, CelMap, type Value } from "../../cel/values.ts";
import { isLarge, type Json, type JsonObject } from "../../json.ts";
import type { Matcher } from "../../patterns/index.ts";
import { nextTurn, type Steps } from "../../steps.ts";
import { askedOf } from "./authorizer.ts";
import { NAMESPACE, REQUEST } from "./request-type.ts";

/** What one expression, or a set of them over one request, may cost. */
export const budgets = { call: 1_000_000, validations: 10_000_000, conditions: 2_500_000 } as const;

const outOfBudget =
  "validation failed due to running out of cost budget, no further validation rules will be run";

/** Thrown when a set of expressions has used up what it may cost. */
export class OutOfBudget extends Error {
  constructor() {
    super(outOfBudget);
    this.name = "OutOfBudget";
  }
}

/** What a request brings to expressions. */
export interface Inputs {
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  readonly request: JsonObject;
  readonly params?: JsonObject | undefined;
  readonly namespaceObject?: JsonObject | undefined;
  /** Absent for expressions that may not ask. */
  readonly authorizer?: Authorizer;
  readonly user: User;
}

/** What kinds of expressions there are, by what they must result in. */
export type Result = "bool" | "string" | "string or null" | "anything";

const allowed: { readonly [result in Result]: readonly Type[] } = {
  bool: [BOOL],
  string: [STRING],
  "string or null": [STRING, NULL],
  anything: [DYN],
};

export interface Declarations {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /**
   * The names of composed variables with the types they turned out to have; undefined where there
   * can be none.
   */
  readonly composed?: ReadonlyMap<string, Type>;
}

/**
 * Compiles an expression of admission. What is wrong with it is in `errors`, in the real server's
 * words.
 *
 * @throws MatchPending
 */
export function compileForAdmission(
  text: string,
  result: Result,
  declarations: Declarations,
  matcher: Matcher,
): Compilation {
  const variables = new Map<string, Type>([
    ["object", DYN],
    ["oldObject", DYN],
    ["request", REQUEST],
    ["namespaceObject", NAMESPACE],
  ]);
  if (declarations.hasParams) variables.set("params", DYN);
  if (declarations.hasAuthorizer) variables.set("authorizer", AUTHORIZER);
  if (declarations.composed) {
    variables.set("variables", {
      kind: "object",
      name: "kubernetes.variables",
      fields: declarations.composed,
    });
  }
  const compiled = compileCel(text, { variables, library: KUBERNETES, matcher });
  if (compiled.errors !== undefined) return { errors: `compilation failed: ${compiled.errors}` };
  if (compiled.fault !== undefined) return { errors: `compilation failed: ${compiled.fault}` };
  const wanted = allowed[result];
  if (wanted.some(({ kind }) => kind === "dyn" || kind === compiled.type.kind)) return compiled;
  const names = wanted.map(typeName);
  const what = names.length === 1 ? names[0] : `one of [${names.join(" ")}]`;
  return { errors: `must evaluate to ${what} but got ${typeName(compiled.type)}` };
}

/** How one expression turned out. */
export type Outcome = { readonly value: Value } | { readonly error: string };

/** A composed variable of a policy. */
export interface ComposedVariable {
  readonly name: string;
  readonly compiled: Compilation;
}

/** What expressions may cost between two turns of the event loop. */
const costPerTurn = 100_000;

/** Runs expressions over one request, within one budget. */
export class Evaluation {
  readonly #bound: ReadonlyMap<string, Value>;
  readonly #matcher: Matcher;
  #left: number;
  #leftAtPause: number;

  constructor(inputs: Inputs, composed: readonly ComposedVariable[], budget: number, matcher: Matcher) {
    this.#matcher = matcher;
    this.#left = budget;
    // To have decoded a large object was work enough.
    this.#leftAtPause = isLarge(inputs.object ?? null) ? budget + costPerTurn : budget;
    const bound = new Map<string, Value>([
      ["object", fromJson(inputs.object ?? null)],
      ["oldObject", fromJson(inputs.oldObject ?? null)],
      ["request", fromJson(inputs.request)],
      ["params", fromJson(inputs.params ?? null)],
      ["namespaceObject", fromJson(inputs.namespaceObject ?? null)],
    ]);
    if (inputs.authorizer) {
      const authorize = askedOf(inputs.authorizer, inputs.user);
      bound.set("authorizer", authorizerOf(authorize, questionOf(inputs.request)));
    }
    bound.set("variables", new Variables(composed, (compiled) => this.#run(compiled, this.#meter())));
    this.#bound = bound;
  }

  /** What is left to spend. */
  get left(): number {
    return this.#left;
  }

  /** @throws OutOfBudget */
  *evaluate(text: string, compiled: Compilation): Steps<Outcome> {
    if (compiled.errors !== undefined) return { error: `compilation error: ${compiled.errors}` };
    if (this.#leftAtPause - this.#left >= costPerTurn) {
      this.#leftAtPause = this.#left;
      yield nextTurn;
    }
    const left = this.#left;
    const meter = this.#meter({ costPerTurn: COST_PER_TURN });
    try {
      const value = yield* this.#matcher.attempt(() => {
        // What was spent before there was something to wait for is not spent twice.
        this.#left = left;
        return this.#run(compiled, meter.begin());
      });
      return { value };
    } catch (error) {
      if (!(error instanceof CelError || error instanceof CostExceeded)) throw error;
      return { error: `expression '${text}' resulted in error: ${error.message}` };
    }
  }

  #meter(options?: { readonly costPerTurn: number }): Meter {
    return new Meter(budgets.call, this.#matcher, options);
  }

  #run(compiled: Compilation, meter: Meter): Value {
    if (compiled.errors !== undefined) throw new CelError(compiled.errors);
    try {
      return compiled.run(this.#bound, meter);
    } finally {
      this.#left -= meter.spent;
      if (this.#left < 0) this.#fail();
    }
  }

  #fail(): never {
    throw new OutOfBudget();
  }
}

/** `variables`: each is worked out when an expression first looks at it, and never if none does. */
class Variables extends CelMap {
  readonly #composed: ReadonlyMap<string, Compilation>;
  readonly #run: (compiled: Compilation) => Value;
  readonly #known = new Map<string, Value>();

  constructor(composed: readonly ComposedVariable[], run: (compiled: Compilation) => Value) {
    super("kubernetes.variables");
    this.#composed = new Map(composed.map(({ name, compiled }) => [name, compiled]));
    this.#run = run;
  }

  override has(key: Value): boolean {
    return typeof key === "string" && this.#composed.has(key);
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const compiled = this.#composed.get(key);
    if (!compiled) return undefined;
    if (compiled.errors !== undefined) {
      throw new CelError(`composited variable ${JSON.stringify(key)} fails to compile: ${compiled.errors}`);
    }
    try {
      const value = this.#run(compiled);
      this.#known.set(key, value);
      return value;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new CelError(`composited variable ${JSON.stringify(key)} fails to evaluate: ${error.message}`);
    }
  }
}

function questionOf(request: JsonObject): ResourceQuestion {
  const { group = "", resource = "" } = request.requestResource as { group?: string; resource?: string };
  const part = (name: string): Record<string, string> => {
    const value: Json | undefined = request[name === "subresource" ? "requestSubResource" : name];
    return typeof value === "string" && value !== "" ? { [name]: value } : {};
  };
  return { group, resource, ...part("subresource"), ...part("namespace"), ...part("name") };
}
