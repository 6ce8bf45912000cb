import { append } from "../append.ts";
import { exactNumber, isInteger, isObject, type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import { normalize } from "../kinds/index.ts";
import { notRegistered } from "../registry/decode.ts";
import type { DeleteOptions } from "../registry/deletion.ts";
import type { Target } from "../registry/identity.ts";
import type { Resource } from "../registry/resource.ts";
import { badRequest, type Cause, invalid, StatusError, UndecodableError } from "../status.ts";
import { nextTurn, TurnBudget } from "../steps.ts";
import { decodeBody } from "./body.ts";
import { isTrue, parseInteger, parseListOptions } from "./list-options.ts";
import { pageMetadata, present, presentList, type ReadDependencies, readPage } from "./read.ts";
import type { ApiResponse } from "./request.ts";
import { deletedStatus, encoded } from "./respond.ts";
import { dryRunFaults, type WriteRequest } from "./write.ts";

export async function remove(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { resource } = target;
  const { options, dryRun } = await readDeleteOptions(write);
  warnOfOrphans(resource, options, write);
  const context = { ...write.context, dryRun };
  const { object, gone } = await deps.registry.delete(target, options, context);
  if (!gone || resource.strategy.returnsDeleted)
    return present(deps, resource, object, write.as, write.query);
  const metadata = metadataOf(object);
  const status = deletedStatus({
    name: target.name,
    ...(resource.info.group === "" ? {} : { group: resource.info.group }),
    kind: resource.info.plural,
    uid: metadata.uid as string,
  });
  return await encoded(200, status, write.as.encoding);
}

/** How many objects of a collection are deleted between two turns of the event loop. */
const deletedPerTurn = 100;

export async function removeCollection(
  deps: ReadDependencies,
  resource: Resource,
  namespace: string | undefined,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { options, dryRun } = await readDeleteOptions(write);
  warnOfOrphans(resource, options, write);
  const context = { ...write.context, dryRun };
  const listed = parseListOptions(resource, write.query, false);
  const page = await readPage(deps.registry, resource, namespace, listed);
  const items: JsonObject[] = [];
  const budget = new TurnBudget(deletedPerTurn);
  for (const { object } of page.entries) {
    if (budget.spend(1)) await nextTurn();
    const { name, namespace: within } = object.metadata;
    try {
      await deps.registry.delete(
        { resource, namespace: within as string | undefined, name },
        { ...options, collection: true },
        context,
      );
    } catch (error) {
      // Another client deleted it meanwhile, which is what was wanted.
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
    items.push(object);
  }
  const metadata = pageMetadata(resource, page, listed);
  const shown = resource.conversion ? await resource.conversion.fromStorage(items) : items;
  return await presentList(deps, resource, metadata, shown, write.as, write.query);
}

/** Warns where dependents are orphaned by default, which few expect. */
function warnOfOrphans({ strategy }: Resource, { raw }: DeleteOptions, { context }: WriteRequest): void {
  if (raw?.propagationPolicy !== undefined || raw?.orphanDependents !== undefined) return;
  if (strategy.orphanWarning !== undefined) context.warn(strategy.orphanWarning);
}

const deleteOptionsKind = { group: "meta.k8s.io", version: "v1", kind: "DeleteOptions" };
const policies = new Set(["Foreground", "Background", "Orphan"]);

/** DELETE's options, from its body or its query. @throws StatusError 400, 422 */
async function readDeleteOptions(write: WriteRequest): Promise<{ options: DeleteOptions; dryRun: boolean }> {
  const hasBody = (write.request.body?.byteLength ?? 0) > 0;
  const raw = hasBody ? await optionsOfBody(write) : optionsOfQuery(write.query);
  const causes: Cause[] = [];
  const policy = raw.propagationPolicy ?? undefined;
  const orphan = raw.orphanDependents ?? undefined;
  if (policy !== undefined && orphan !== undefined) {
    causes.push({
      reason: "FieldValueInvalid",
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
      field: "propagationPolicy",
    });
  } else if (policy !== undefined && !policies.has(textOf(policy))) {
    causes.push({
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
      field: "propagationPolicy",
    });
  }
  const dry = Array.isArray(raw.dryRun) ? raw.dryRun : [];
  append(causes, dryRunFaults(dry));
  if (causes.length > 0) throw invalid(deleteOptionsKind, "", causes);
  const chosen =
    typeof policy === "string"
      ? (policy as "Foreground" | "Background" | "Orphan")
      : orphan === true
        ? "Orphan"
        : orphan === false
          ? "Background"
          : undefined;
  const grace = raw.gracePeriodSeconds;
  const preconditions = raw.preconditions;
  return {
    dryRun: dry.length > 0,
    options: {
      ...(chosen === undefined ? {} : { propagationPolicy: chosen }),
      ...(isInteger(grace) ? { gracePeriodSeconds: grace } : {}),
      ...(isObject(preconditions)
        ? { preconditions: preconditions as { uid?: string; resourceVersion?: string } }
        : {}),
      raw,
    },
  };
}

async function optionsOfBody(write: WriteRequest): Promise<JsonObject> {
  try {
    const { object } = await decodeBody(write.request, deleteOptionsKind);
    const kind = textOf(object.kind ?? "DeleteOptions");
    const apiVersion = textOf(object.apiVersion ?? "v1");
    // A kind without a version, or a version without a kind, counts as the expected one.
    if (kind !== "DeleteOptions" && object.apiVersion !== undefined) {
      throw badRequest(notRegistered(kind, apiVersion));
    }
    const {
      kind: _kind,
      apiVersion: _apiVersion,
      ...options
    } = normalize(deleteOptionsKind, object, "decoded");
    return options;
  } catch (error) {
    throw error instanceof UndecodableError ? badRequest(error.fault.message) : error;
  }
}

function optionsOfQuery(query: URLSearchParams): JsonObject {
  const raw: JsonObject = {};
  const grace = query.get("gracePeriodSeconds");
  if (grace !== null) raw.gracePeriodSeconds = exactNumber(String(parseInteger(grace)));
  const policy = query.get("propagationPolicy");
  if (policy !== null) raw.propagationPolicy = policy;
  const orphan = query.get("orphanDependents");
  if (orphan !== null) raw.orphanDependents = isTrue(orphan);
  const dryRun = query.getAll("dryRun");
  if (dryRun.length > 0) raw.dryRun = dryRun;
  return raw;
}
