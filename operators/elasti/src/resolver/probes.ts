import { RE2JS, RE2JSException } from "re2js";
import type { OwnResponse } from "./http1/answer.ts";
import type { RequestView } from "./request.ts";
import type { ProbeResponse, ValueMatch } from "./targets.ts";

/** Decides whether a request is a probe, and how it is answered. */
export type ProbeMatcher = (request: RequestView) => OwnResponse | undefined;

/**
 * Health checks of Kubernetes and of load balancers, which ask whether the way to a service is
 * there and wake nothing.
 */
const checkers = ["kube-probe/", "ELB-HealthChecker/", "GoogleHC/"];

/**
 * Compiles rules once, for all requests of a target. The first rule that matches counts; after them
 * come the health checks that are known by their User-Agent. Patterns are RE2's: no request can
 * make one take long.
 */
export function probeMatcher(rules: readonly ProbeResponse[]): ProbeMatcher {
  const compiled = rules.map((rule) => ({ matches: compile(rule), response: rule.response }));
  return (request) => {
    for (const { matches, response } of compiled) if (matches(request)) return response;
    const agent = request.header("user-agent") ?? "";
    return checkers.some((checker) => agent.startsWith(checker))
      ? { status: 200, body: "asleep\n" }
      : undefined;
  };
}

type Condition = (request: RequestView) => boolean;

function compile({ method, path, headers = [], queryParams = [] }: ProbeResponse): Condition {
  const conditions: Condition[] = [];
  if (method !== undefined) conditions.push((request) => request.method === method);
  if (path) {
    const matches = pathTest(path);
    conditions.push(({ target }) => matches(split(target).path));
  }
  for (const header of headers) {
    const matches = valueTest(header);
    const name = header.name.toLowerCase();
    conditions.push((request) => matches(request.header(name)));
  }
  for (const parameter of queryParams) {
    const matches = valueTest(parameter);
    conditions.push(({ target }) => matches(split(target).query.get(parameter.name) ?? undefined));
  }
  return (request) => conditions.every((holds) => holds(request));
}

function pathTest({ type, value }: NonNullable<ProbeResponse["path"]>): (path: string) => boolean {
  switch (type) {
    case "Exact":
      return (path) => path === value;
    case "PathPrefix": {
      // By whole segments, as in the Gateway API: `/a` is a prefix of `/a/b`, and not of `/ab`.
      const prefix = value.replace(/\/+$/, "");
      return (path) => path === prefix || path.startsWith(`${prefix}/`);
    }
    case "RegularExpression":
      return patternTest(value);
  }
}

function valueTest({ value, type = "Exact" }: ValueMatch): (found: string | undefined) => boolean {
  if (type === "Exact") return (found) => found === value;
  const matches = patternTest(value);
  return (found) => found !== undefined && matches(found);
}

/**
 * The API server refuses patterns that are malformed. One that comes all the same matches nothing.
 */
function patternTest(pattern: string): (text: string) => boolean {
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => compiled.matcher(text).find();
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return () => false;
  }
}

function split(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf("?");
  return mark < 0
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}
