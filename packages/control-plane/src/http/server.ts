import {
  type Attributes,
  type Authorizer,
  authenticate,
  forbiddenRequest,
  impersonate,
  type Tokens,
  type User,
} from "../auth/index.ts";
import {
  AggregatedDiscoveryDocuments,
  aggregatedMediaType,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  discoveryForm,
  versionInfo,
} from "../discovery/index.ts";
import type { KindTable } from "../kinds/index.ts";
import type { RequestMeasure } from "../metrics/request-metrics.ts";
import type { Requester } from "../registry/admission.ts";
import { selectedName } from "../registry/field-selector.ts";
import type { Target } from "../registry/identity.ts";
import type { RequestContext } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { badRequest, internalError, StatusError } from "../status.ts";
import { StorageError } from "../storage/storage-error.ts";
import { remove, removeCollection } from "./delete.ts";
import { healthChecks, healthReport } from "./health.ts";
import { indexPaths } from "./index-paths.ts";
import { isTrue, parseListOptions } from "./list-options.ts";
import { indicatorsPage, metricsContentType, metricsPage } from "./measures.ts";
import { failureEncoding, negotiate, plainEncoding } from "./negotiate.ts";
import { patch, patchType } from "./patch.ts";
import { get, list, type ReadDependencies } from "./read.ts";
import { methodNotAllowed, notSupported, resourceNotFound } from "./refusals.ts";
import { type ApiRequest, type ApiResponse, addressOf, header } from "./request.ts";
import { parsePath, type RequestInfo, verbOf } from "./request-info.ts";
import { pathLabels, requestLabels } from "./request-labels.ts";
import { encoded, encodedFailure, json, jsonText, pathNotFound, pretty, text } from "./respond.ts";
import { reviewAt, type Subresources } from "./subresources.ts";
import { warningHeaders } from "./warnings.ts";
import { watch } from "./watch.ts";
import { create, defaultManager, parseWriteOptions, update, type WriteRequest } from "./write.ts";

export interface ApiServerOptions extends ReadDependencies {
  readonly tokens: Tokens;
  readonly authorizer: Authorizer;
  readonly subresources: Subresources;
  /** How requests without credentials are treated. @default "anonymous" */
  readonly strangers?: "anonymous" | "refused";
  /** Documents under `/openapi`, made when they are asked for. */
  readonly openapi: (path: string, request: ApiRequest) => Promise<ApiResponse | undefined>;
  /** What the data takes on disk; undefined where it is in memory alone. @default undefined */
  readonly storageBytes?: () => number | undefined;
  /** Called with unexpected errors. */
  readonly onPanic: (error: unknown, request: ApiRequest) => void;
  /** May answer in the server's place: how tests inject faults. */
  readonly intercept?: (request: ApiRequest, user: Requester) => Promise<ApiResponse | undefined>;
}

/** Token verifiers fetch the keys repeatedly. */
const cachedForAnHour = { "cache-control": "public, max-age=3600" };

/** The API as a function from request to response, without sockets. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #discovery: AggregatedDiscoveryDocuments;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#discovery = new AggregatedDiscoveryDocuments(options.registry.kinds);
  }

  /** Answers a request. Never rejects: errors become answers. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    const measure = this.#options.registry.metrics.requests.begin();
    const answered = () => this.#route(request, measure);
    const response = await answered().catch((error: unknown) => this.#fail(error, request));
    return measure.end(isForPeople(request) ? await pretty(response) : response);
  }

  #fail(error: unknown, request: ApiRequest): Promise<ApiResponse> {
    return encodedFailure(this.#failure(error, request), failureEncoding(header(request, "accept")));
  }

  #failure(error: unknown, request: ApiRequest): StatusError {
    if (error instanceof StatusError) return error;
    if (error instanceof URIError) return badRequest(error.message);
    // As the real server answers when its storage is full.
    if (error instanceof StorageError) return new StatusError({ code: 500, message: error.message });
    this.#options.onPanic(error, request);
    return internalError(error instanceof Error ? error.message : String(error));
  }

  async #route(request: ApiRequest, measure: RequestMeasure): Promise<ApiResponse> {
    const { pathname, searchParams: query } = addressOf(request);
    const user = await this.#identify(request);
    const intercepted = await this.#options.intercept?.(request, user);
    if (intercepted) return intercepted;
    const info = parsePath(pathname);
    if (!info) checkTimeout(query.get("timeout") ?? "");
    if (!info) return await this.#plainPath(request, pathname, query, user, measure);
    return await this.#resourcePath(request, info, query, user, measure);
  }

  async #identify(request: ApiRequest): Promise<Requester> {
    const { tokens, authorizer, strangers } = this.#options;
    const authorization = header(request, "authorization");
    const sender = await authenticate(
      { certificate: request.peer as User | "rejected" | undefined, authorization },
      tokens,
      strangers,
    );
    const headers: Record<string, readonly string[] | undefined> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (name.startsWith("impersonate-")) headers[name] = typeof value === "string" ? [value] : value;
    }
    return Object.keys(headers).length === 0 ? sender : impersonate(sender, headers, authorizer);
  }

  #authorize(user: Requester, attributes: Attributes): void {
    const who = user as User;
    const { allowed, reason } = this.#options.authorizer.authorize(who, attributes);
    if (!allowed) throw forbiddenRequest(who, attributes, reason);
  }

  async #plainPath(
    request: ApiRequest,
    pathname: string,
    query: URLSearchParams,
    user: Requester,
    measure: RequestMeasure,
  ): Promise<ApiResponse> {
    this.#authorize(user, { verb: request.method.toLowerCase(), path: pathname });
    const labels = pathLabels(request, pathname);
    if (labels) measure.is(labels);
    const { kinds } = this.#options.registry;
    switch (pathname) {
      case "/healthz":
      case "/livez":
      case "/readyz":
        return text(
          200,
          query.has("verbose") ? healthReport(pathname.slice(1), query.getAll("exclude")) : "ok",
        );
    }
    const path = /^(\/(?:api|version))\/+$/.exec(pathname)?.[1] ?? pathname.replace(/(?<=.)\/$/, "");
    switch (path) {
      case "/version":
        checkReads(request);
        return pretty(json(200, versionInfo()));
      case "/api":
      case "/apis": {
        if (path === "/api") checkReads(request);
        if (discoveryForm(header(request, "accept")) === "aggregated") {
          const { body, etag } = this.#discovery.document(path);
          const headers = { "content-type": aggregatedMediaType, etag, vary: "Accept" };
          if (header(request, "if-none-match") === etag) return { status: 304, headers, body: "" };
          return jsonText(200, body, headers);
        }
        const document = path === "/api" ? apiVersions("127.0.0.1") : apiGroupList(kinds);
        return await encoded(200, document, plainEncoding(header(request, "accept")));
      }
      case "/":
      case "/index.html":
        return pretty(json(200, { paths: indexPaths(kinds) }));
      case "/metrics":
        return text(
          200,
          metricsPage(this.#options.registry, this.#options.storageBytes?.()),
          metricsContentType,
        );
      case "/metrics/slis":
        return text(200, indicatorsPage(), metricsContentType);
      case "/openid/v1/jwks":
        checkReads(request);
        return json(200, this.#options.tokens.keySet(), {
          ...cachedForAnHour,
          "content-type": "application/jwk-set+json",
        });
      case "/.well-known/openid-configuration":
        checkReads(request);
        return json(200, this.#options.tokens.discovery(this.#options.tokens.issuer), cachedForAnHour);
    }
    const [endpoint = "", ...check] = path.slice(1).split("/");
    if (check.length > 0 && healthChecks(endpoint).includes(check.join("/"))) return text(200, "ok");
    if (path === "/openapi" || path.startsWith("/openapi/")) {
      return (await this.#options.openapi(path, request)) ?? pathNotFound();
    }
    const [root, group = "", version] = path.slice(1).split("/");
    const found =
      root === "api"
        ? apiResourceList(kinds, "", group)
        : root === "apis" && version === undefined
          ? apiGroup(kinds, group)
          : root === "apis"
            ? apiResourceList(kinds, group, version as string)
            : undefined;
    if (found && (root === "api" || version !== undefined)) checkReads(request);
    if (found) return await encoded(200, found, plainEncoding(header(request, "accept")));
    if (
      (root === "api" && group !== "") ||
      (root === "apis" && group !== "" && version !== undefined && isBuiltinGroup(kinds, group))
    )
      throw resourceNotFound();
    return pathNotFound();
  }

  async #resourcePath(
    request: ApiRequest,
    info: RequestInfo,
    query: URLSearchParams,
    user: Requester,
    measure: RequestMeasure,
  ): Promise<ApiResponse> {
    const { registry } = this.#options;
    const watching =
      info.watchPath ||
      (request.method === "GET" &&
        info.name === undefined &&
        query.has("watch") &&
        isTrue(query.get("watch") ?? ""));
    if (!watching) checkTimeout(query.get("timeout") ?? "");
    const verb = verbOf(request.method, info, watching);
    if (verb === undefined || (info.watchPath && request.method !== "GET")) throw methodNotAllowed();
    this.#authorize(user, attributesOf(info, verb, query));
    const review = reviewAt(info);
    const resource = review ? undefined : registry.resource(info.group, info.version, info.plural);
    if (review ?? resource) measure.is(requestLabels(request, info, verb, query));
    if (review) return await this.#review(request, info, query, user, review);
    if (!resource) {
      if (isBuiltinGroup(registry.kinds, info.group)) throw resourceNotFound();
      return pathNotFound();
    }
    if (info.namespace !== undefined && !resource.info.namespaced) throw resourceNotFound();
    if (request.method === "HEAD" && resource.info.origin === "builtin") throw methodNotAllowed();
    const deprecations = resource.deprecation === undefined ? [] : [resource.deprecation];
    return await this.#withWarnings(request, deprecations, (warn) =>
      this.#dispatch(request, info, resource, verb, query, user, warn),
    );
  }

  /** The answer carries the warnings, whether the request succeeded or failed. */
  async #withWarnings(
    request: ApiRequest,
    first: readonly string[],
    work: (warn: (text: string) => void) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const warnings = [...first];
    const answered = async () => await work((warning) => warnings.push(warning));
    const response = await answered().catch((error: unknown) => this.#fail(error, request));
    const values = warningHeaders(warnings);
    return values.length === 0
      ? response
      : { ...response, headers: { ...response.headers, warning: values } };
  }

  async #dispatch(
    request: ApiRequest,
    info: RequestInfo,
    resource: Resource,
    verb: string,
    query: URLSearchParams,
    user: Requester,
    warn: (text: string) => void,
  ): Promise<ApiResponse> {
    const deps = this.#options;
    const { namespace, name, subresource } = info;
    const notAllowed = () =>
      resource.info.origin === "custom" ? notSupported(verb, resource) : methodNotAllowed();
    const as =
      subresource === "log" || subresource === "proxy"
        ? ({ as: "object", encoding: "json" } as const)
        : negotiate(header(request, "accept"), {
            origin: resource.info.origin,
            watch: verb === "watch",
            collection: verb === "list",
          });
    if (name === undefined) {
      const isListed = resource.info.verbs.includes("list");
      if (resource.info.namespaced && namespace === undefined && !isListed) throw resourceNotFound();
      if (!resource.info.verbs.includes(verb) || !collectionVerbs.has(verb)) throw notAllowed();
      if (verb === "list" || verb === "watch") {
        const options = parseListOptions(resource, query, verb === "watch");
        if (verb === "list") return list(deps, resource, namespace, options, as, query);
        return watch(deps, resource, namespace, options, as);
      }
      if (resource.info.namespaced && namespace === undefined) throw notAllowed();
      const write = this.#write(request, info, query, as, user, warn, verb);
      if (verb === "create") return create(deps, resource, namespace, write);
      return removeCollection(deps, resource, namespace, write);
    }
    const target: Target = {
      resource,
      namespace,
      name,
      ...(subresource === undefined ? {} : { subresource }),
    };
    if (resource.info.namespaced && namespace === undefined) throw resourceNotFound();
    if (name === "" && resource.info.origin === "builtin") throw resourceNotFound();
    checkName(name);
    if (subresource === "scale" && !scaleVerbs.has(verb)) throw notAllowed();
    const known = resource.info.subresources.find((each) => each.name === subresource);
    if (resource.info.origin === "builtin" && known && !known.verbs.includes(verb)) throw notAllowed();
    // A patch of an unsupported type is refused before its options are checked.
    if (verb === "patch") patchType(resource, request);
    if (subresource !== undefined && subresource !== "status") {
      const write = this.#write(request, info, query, as, user, warn, verb);
      return await deps.subresources(deps, target, info, write);
    }
    if (subresource === "status" && !resource.hasStatus) throw resourceNotFound();
    switch (verb) {
      case "get":
        return get(deps, target, as, query);
      case "watch": {
        const byName = new URLSearchParams(query);
        byName.set("fieldSelector", `metadata.name=${name}`);
        return watch(deps, resource, namespace, parseListOptions(resource, byName, true), as);
      }
      case "update":
      case "patch": {
        const write = {
          ...this.#write(request, info, query, as, user, warn, verb),
          checkMayCreate: () => this.#authorize(user, attributesOf(info, "create", query)),
        };
        return verb === "update" ? update(deps, target, write) : patch(deps, target, write);
      }
      case "delete":
        if (subresource !== undefined) throw notAllowed();
        return remove(deps, target, this.#write(request, info, query, as, user, warn, verb));
      default:
        throw notAllowed();
    }
  }

  async #review(
    request: ApiRequest,
    info: RequestInfo,
    query: URLSearchParams,
    user: Requester,
    review: NonNullable<ReturnType<typeof reviewAt>>,
  ): Promise<ApiResponse> {
    if (info.name !== undefined) throw resourceNotFound();
    if (info.plural === "bindings" && info.namespace === undefined) throw resourceNotFound();
    if (request.method !== "POST") throw methodNotAllowed();
    const as = { as: "object", encoding: plainEncoding(header(request, "accept")) } as const;
    return await this.#withWarnings(request, [], (warn) =>
      review(this.#options, this.#write(request, info, query, as, user, warn, "create")),
    );
  }

  #write(
    request: ApiRequest,
    { name: addressed }: RequestInfo,
    query: URLSearchParams,
    as: WriteRequest["as"],
    user: Requester,
    warn: (text: string) => void,
    verb: string,
  ): WriteRequest {
    const kind =
      verb === "create"
        ? "CreateOptions"
        : verb === "patch"
          ? "PatchOptions"
          : verb === "update"
            ? "UpdateOptions"
            : "DeleteOptions";
    const { dryRun, fieldValidation } = parseWriteOptions(query, kind);
    const fieldManager = query.get("fieldManager") || defaultManager(header(request, "user-agent"));
    const named = {
      ...(query.get("fieldManager") ? { fieldManager: query.get("fieldManager") as string } : {}),
      ...(query.get("fieldValidation") ? { fieldValidation: query.get("fieldValidation") as string } : {}),
    };
    const context: RequestContext = {
      user,
      ...(addressed === undefined ? {} : { addressed }),
      fieldManager,
      named,
      dryRun,
      warn,
    };
    return { request, query, as, context, fieldValidation };
  }
}

/**
 * Checks the `timeout` parameter. It has no effect, but must be a duration.
 *
 * @throws StatusError 400
 */
function checkTimeout(timeout: string): void {
  if (timeout === "" || /^[+-]?(0|((\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/.test(timeout)) return;
  const isUnitless = /^[+-]?[\d.]+$/.test(timeout);
  throw badRequest(
    `invalid timeout specified in the request URL - time: ${isUnitless ? "missing unit in" : "invalid"} duration ${JSON.stringify(timeout)}`,
  );
}

/** Browsers, curl and wget get indented JSON, as from the real server. */
function isForPeople(request: ApiRequest): boolean {
  const asked = /[?&]pretty=([^&]*)/.exec(request.url)?.[1];
  if (asked !== undefined) return asked !== "false" && asked !== "0";
  return /^(curl|Wget|Mozilla\/5\.0)/.test(header(request, "user-agent") ?? "");
}

/** Groups that come with the server answer in its own words, whatever the version. */
function isBuiltinGroup(kinds: KindTable, group: string): boolean {
  return kinds
    .groups()
    .some(
      ({ name, versions }) =>
        name === group &&
        versions.some((version) => kinds.kinds(group, version).some(({ origin }) => origin === "builtin")),
    );
}

const scaleVerbs = new Set(["get", "update", "patch"]);

const collectionVerbs = new Set(["list", "watch", "create", "deletecollection"]);

/**
 * The attributes of a request that are authorized. A list or watch of a single name is about that
 * name.
 */
function attributesOf(info: RequestInfo, verb: string, query: URLSearchParams): Attributes {
  const { group, plural, subresource, namespace } = info;
  const isListed = verb === "list" || verb === "watch";
  const name = info.name ?? (isListed ? selectedName(query.get("fieldSelector") ?? "") : undefined);
  return {
    verb,
    group,
    resource: plural,
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined
      ? group === "" && plural === "namespaces" && info.name
        ? { namespace: info.name }
        : {}
      : { namespace }),
  };
}

/** Names that the real server's storage refuses as keys. */
function checkName(name: string): void {
  const isDots = name === "." || name === "..";
  const fault = isDots ? `may not be '${name}'` : name.includes("%") ? "may not contain '%'" : undefined;
  if (fault !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${fault}`);
}

/** Some paths can only be read. Others answer to whatever they are asked with. */
function checkReads({ method }: ApiRequest): void {
  if (method !== "GET") throw methodNotAllowed();
}
