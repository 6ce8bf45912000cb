import type { z } from "zod";
import type { Identity } from "../identity/index.ts";
import { type FieldFault, Problem } from "./problem.ts";

/** Who calls, and from where. */
export interface Caller {
  readonly identities: readonly [Identity, ...Identity[]];
}

/** A request, understood. */
export interface Call<Body, Query> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** For the audit log. */
  readonly request: { readonly requestId: string; readonly request: string; readonly from: string };
  /** Aborted when the client has gone, or when this replica stops. */
  readonly signal: AbortSignal;
}

/** What a request is answered with. */
export interface Reply {
  readonly status: number;
  /** JSON, or text as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called if the answer could not be sent. */
  readonly undo?: () => Promise<void>;
}

/** What a route may answer. */
export interface Answer {
  readonly description: string;
  /** @default text */
  readonly schema?: z.ZodType;
}

interface RouteText {
  readonly method: "GET" | "POST" | "DELETE";
  /** With `{name}` for one part that varies. */
  readonly path: string;
  readonly summary: string;
  readonly answers: Readonly<Record<number, Answer>>;
}

/** One thing that the API does. Routing, validation and the OpenAPI document come from this. */
export type Route = OpenRoute | GuardedRoute;

/** For anyone. */
interface OpenRoute extends RouteText {
  readonly access: "anyone";
  answer(): Reply;
}

/** For authenticated callers. */
interface GuardedRoute extends RouteText {
  readonly access: "authenticated";
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** @throws Problem, and whatever `problemOf` knows. */
  handle(call: Omit<Call<unknown, unknown>, "body" | "query">, query: unknown, body: unknown): Promise<Reply>;
}

/** A route that only authenticated callers may use. */
export function route<Query extends z.ZodObject = z.ZodObject, Body extends z.ZodType = z.ZodUndefined>(
  declared: RouteText & {
    readonly query?: Query;
    readonly body?: Body;
    readonly handle: (call: Call<z.output<Body>, z.output<Query>>) => Promise<Reply>;
  },
): Route {
  const { query, body, handle, ...text } = declared;
  return {
    ...text,
    access: "authenticated",
    query,
    body,
    handle: async (call, givenQuery, givenBody) =>
      await handle({
        ...call,
        query: query ? read(query, givenQuery, "query") : ({} as z.output<Query>),
        body: body ? read(body, givenBody, "") : (undefined as z.output<Body>),
      }),
  };
}

/** A route that anyone may use. */
export function openRoute(declared: RouteText & { readonly answer: () => Reply }): Route {
  return { ...declared, access: "anyone" };
}

/**
 * @throws Problem that names each field: 400 for what has the wrong form, 422 for what has the
 *   right one and is invalid.
 */
function read<S extends z.ZodType>(schema: S, given: unknown, at: string): z.output<S> {
  const { data, error } = schema.safeParse(given);
  if (!error) return data;
  const fields = error.issues.map(
    ({ path, message }): FieldFault => ({
      field: [at, ...path].filter((part) => part !== "").join(".") || "the body",
      message,
    }),
  );
  const isUnderstood = error.issues.every(({ code }) => code === "custom");
  const message = fields.map(({ field, message: fault }) => `${field}: ${fault}`).join("; ");
  throw new Problem(isUnderstood ? 422 : 400, isUnderstood ? "InvalidField" : "InvalidRequest", message, {
    details: { fields },
  });
}

/** What a request leads to. */
export type Match =
  | { readonly is: "route"; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly is: "other-method"; readonly allowed: readonly string[] }
  | { readonly is: "nothing" };

/** The route of a request. HEAD is GET without its body. */
export function matchRoute(routes: readonly Route[], method: string, path: string): Match {
  const wanted = method === "HEAD" ? "GET" : method;
  const found = routes.flatMap((candidate) => {
    const params = paramsIn(candidate.path, path);
    return params ? [{ route: candidate, params }] : [];
  });
  const match = found.find(({ route: candidate }) => candidate.method === wanted);
  if (match) return { is: "route", ...match };
  if (found.length === 0) return { is: "nothing" };
  return { is: "other-method", allowed: found.map(({ route: candidate }) => candidate.method) };
}

function paramsIn(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (name === undefined) {
      if (part !== value) return undefined;
      continue;
    }
    const decoded = decodedPart(value);
    if (decoded === undefined || decoded === "") return undefined;
    params[name] = decoded;
  }
  return params;
}

function decodedPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
