import { isObject, type JsonObject, stringify } from "../../json.ts";
import { hasAt, metadataOf, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Admission, AdmissionRequest } from "../../registry/admission.ts";
import { invalid } from "../../status.ts";
import type { Store } from "../../storage/store.ts";
import { Faults } from "../../validation/faults.ts";
import { refuse, writeOf } from "../plugin.ts";
import { type Level, violations } from "./checks.ts";

const prefix = "pod-security.kubernetes.io/";
const modes = ["enforce", "audit", "warn"];
const levels = ["privileged", "baseline", "restricted"];

/**
 * Enforces the Pod Security level of the namespace's labels. Rules are those of the newest version,
 * whatever version the labels pin; messages name the one they pin.
 */
export function podSecurity(store: Store): Admission {
  return {
    name: "PodSecurity",
    validate: (request) => {
      if (request.operation !== "CREATE" && request.operation !== "UPDATE") return;
      const namespace = writeOf(request, "", "namespaces");
      if (namespace) {
        checkLabels(namespace);
        return;
      }
      const template = templateOf(request);
      if (!template || request.namespace === undefined) return;
      const labels = objectAt(metadataOf(store.get("namespaces", request.namespace)?.object ?? {}), "labels");
      evaluate(request, template, labels);
    },
  };
}

function evaluate(request: AdmissionRequest, template: Template, labels: JsonObject): void {
  const enforced = policyOf(labels, "enforce");
  if (template.isPod && enforced) {
    const broken = violations(template.pod, enforced.level);
    if (broken.length > 0)
      throw refuse(request, `violates PodSecurity ${violationMessage(enforced, broken)}`);
  }
  // Workloads are warned at the enforced level too, so that they do not fail silently.
  const warned = policyOf(labels, hasAt(labels, `${prefix}warn`) ? "warn" : "enforce");
  if (!warned) return;
  const broken = violations(template.pod, warned.level);
  if (broken.length > 0) request.warn(`would violate PodSecurity ${violationMessage(warned, broken)}`);
}

interface Policy {
  readonly level: Level;
  readonly version: string;
}

function violationMessage({ level, version }: Policy, broken: readonly string[]): string {
  return `${JSON.stringify(`${level}:${version}`)}: ${broken.join(", ")}`;
}

/** What a namespace's labels ask for in a mode; undefined where everything is allowed. */
function policyOf(labels: JsonObject, mode: string): Policy | undefined {
  const level = textAt(labels, `${prefix}${mode}`);
  if (level !== "baseline" && level !== "restricted") return undefined;
  return { level, version: textAt(labels, `${prefix}${mode}-version`) || "latest" };
}

/** A pod that is to be, on its own or by a workload. */
interface Template {
  readonly isPod: boolean;
  readonly pod: JsonObject;
}

function templateOf(request: AdmissionRequest): Template | undefined {
  const { object, resource, subresource } = request;
  if (!object) return undefined;
  if (resource.bucket === "pods") {
    const counts = subresource === undefined || subresource === "ephemeralcontainers";
    return counts && !unchangedPod(request) ? { isPod: true, pod: object } : undefined;
  }
  const template = subresource === undefined ? resource.strategy.podTemplate?.(object) : undefined;
  return isObject(template) ? { isPod: false, pod: template } : undefined;
}

/** Updates that do not change a checked field are not checked again. */
function unchangedPod({ operation, object, oldObject, subresource }: AdmissionRequest): boolean {
  if (operation !== "UPDATE" || !oldObject || subresource !== undefined) return false;
  const images = (pod: JsonObject) => stringify(specOf(pod));
  return images(object as JsonObject) === images(oldObject);
}

/** Labels with an unknown level or version are refused: they would silently allow everything. */
function checkLabels(namespace: JsonObject): void {
  const faults = new Faults();
  const labels = objectAt(metadataOf(namespace), "labels");
  for (const mode of modes) {
    const [level, version] = [textAt(labels, `${prefix}${mode}`), textAt(labels, `${prefix}${mode}-version`)];
    if (level !== "" && !levels.includes(level)) {
      faults.invalid(
        `metadata.labels[${prefix}${mode}]`,
        level,
        "must be one of privileged, baseline, restricted",
      );
    }
    if (version !== "" && version !== "latest" && !/^v1\.(0|[1-9]\d*)$/.test(version)) {
      faults.invalid(`metadata.labels[${prefix}${mode}-version]`, version, 'must be "latest" or "v1.x"');
    }
  }
  if (faults.none) return;
  throw invalid({ group: "", kind: "Namespace" }, textAt(metadataOf(namespace), "name"), faults.causes);
}
