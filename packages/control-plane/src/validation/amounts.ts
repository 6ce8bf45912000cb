import { formatQuantity, parseQuantity, type Quantity } from "@windlass/kinds/quantity";
import { type Json, type JsonObject, textOf } from "../json.ts";
import { field, hasAt, objectAt } from "../json-fields.ts";
import type { Faults } from "./faults.ts";
import { percentage, qualifiedName } from "./names.ts";

const nano = 1_000_000_000n;

/** A quantity that was decoded already, and so is one. */
export function amount(value: Json | undefined): Quantity {
  return parseQuantity(typeof value === "string" ? value : String(Number(value ?? 0)));
}

/** Negative, zero or positive, as the first is less, equal or more. */
export function compareAmounts(a: Json | undefined, b: Json | undefined): number {
  const difference = amount(a).nanos - amount(b).nanos;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The sum, written in the first one's form. */
export function addAmounts(a: Json | undefined, b: Json | undefined): string {
  const [left, right] = [amount(a), amount(b)];
  const format = left.nanos === 0n ? right.format : left.format;
  return formatQuantity({ nanos: left.nanos + right.nanos, format });
}

export function isWhole(value: Json): boolean {
  return amount(value).nanos % nano === 0n;
}

export function notNegative(faults: Faults, at: string, value: Json): void {
  if (amount(value).nanos < 0n) faults.invalid(at, value, "must be greater than or equal to 0");
}

/** Amounts that are shown as plain numbers, and may be nothing but not less. */
export function checkPlainAmount(faults: Faults, at: string, value: Json): void {
  const { nanos } = amount(value);
  if (nanos < 0n) faults.invalid(at, Number(nanos / nano), "must be a valid resource quantity");
}

export function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

/** Names with a domain of their own: devices and the like. */
export function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith("requests.")) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

const standardContainer = new Set(["cpu", "memory", "ephemeral-storage"]);
const standardResources = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "storage",
  "requests.storage",
  "services.nodeports",
  "services.loadbalancers",
]);
const countable = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);
const quotable = new Set([...standardResources].filter((name) => name !== "storage"));

/** Whether amounts of it must be whole numbers. */
export function mustBeWhole(name: string): boolean {
  return countable.has(name) || isExtended(name);
}

export function checkResourceName(faults: Faults, at: string, name: string): boolean {
  const complaints = qualifiedName(name);
  faults.each(at, name, complaints);
  if (complaints.length > 0) return false;
  if (!name.includes("/") && !standardResources.has(name) && !isHugePages(name)) {
    faults.invalid(at, name, "must be a standard resource type or fully qualified");
    return false;
  }
  return true;
}

export function checkContainerResourceName(faults: Faults, at: string, name: string): void {
  const sound = checkResourceName(faults, at, name);
  if (!name.includes("/")) {
    if (!standardContainer.has(name) && !isHugePages(name)) {
      faults.invalid(at, name, "must be a standard resource for containers");
    }
  } else if (sound && !isNative(name) && !isExtended(name)) {
    faults.invalid(at, name, "doesn't follow extended resource name standard");
  }
}

export function checkQuotaResourceName(faults: Faults, at: string, name: string): void {
  checkResourceName(faults, at, name);
  if (
    !name.includes("/") &&
    !quotable.has(name) &&
    !isHugePages(name) &&
    !name.startsWith("requests.hugepages-")
  ) {
    faults.invalid(at, name, "must be a standard resource for quota");
  }
}

/** An amount of a resource: not negative, and whole where it is counted. */
export function checkAmount(faults: Faults, at: string, name: string, value: Json): void {
  notNegative(faults, at, value);
  if (mustBeWhole(name) && !isWhole(value)) faults.invalid(at, value, "must be an integer");
}

/** `core/v1` ResourceRequirements of a container or a pod. */
export function checkRequirements(
  faults: Faults,
  at: string,
  requirements: JsonObject,
  { claims = [] }: { readonly claims?: readonly string[] } = {},
): void {
  const limits = objectAt(requirements, "limits");
  const requests = objectAt(requirements, "requests");
  let hugePages = false;
  let anything = false;
  for (const [name, value] of Object.entries(limits)) {
    checkContainerResourceName(faults, `${at}.limits[${name}]`, name);
    checkAmount(faults, `${at}.limits[${name}]`, name, value);
    checkHugePages(faults, `${at}.limits[${name}]`, name, value);
    if (isHugePages(name)) hugePages = true;
    else if (name === "cpu" || name === "memory") anything = true;
  }
  for (const [name, value] of Object.entries(requests)) {
    checkContainerResourceName(faults, `${at}.requests[${name}]`, name);
    checkAmount(faults, `${at}.requests[${name}]`, name, value);
    checkHugePages(faults, `${at}.requests[${name}]`, name, value);
    const limit = field(limits, name);
    const overcommits = standardContainer.has(name) || (isNative(name) && !isHugePages(name));
    if (limit !== undefined) {
      if (!overcommits && compareAmounts(value, limit) !== 0) {
        faults.invalid(`${at}.requests`, value, `must be equal to ${name} limit of ${textOf(limit)}`);
      } else if (compareAmounts(value, limit) > 0) {
        faults.invalid(
          `${at}.requests`,
          value,
          `must be less than or equal to ${name} limit of ${textOf(limit)}`,
        );
      }
    } else if (!overcommits) {
      faults.required(`${at}.limits`, "Limit must be set for non overcommitable resources");
    }
    if (isHugePages(name)) hugePages = true;
    else if (name === "cpu" || name === "memory") anything = true;
  }
  if (hugePages && !anything) faults.forbidden(at, "HugePages require cpu or memory");
  checkClaims(faults, `${at}.claims`, requirements, claims);
}

function checkHugePages(faults: Faults, at: string, name: string, value: Json): void {
  if (!isHugePages(name)) return;
  const size = amount(name.slice("hugepages-".length)).nanos;
  if (size !== 0n && amount(value).nanos % size !== 0n) {
    faults.invalid(at, value, `${textOf(value)} is not positive integer multiple of ${name}`);
  }
}

function checkClaims(faults: Faults, at: string, requirements: JsonObject, known: readonly string[]): void {
  const claims = (field(requirements, "claims") ?? []) as JsonObject[];
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const name = textOf(claim.name);
    if (name === "") faults.required(`${at}[${index}]`);
    else if (seen.has(name)) faults.duplicate(`${at}[${index}]`, name);
    else if (!known.includes(name)) {
      const which = known.length === 0 ? "which is empty" : known.join(", ");
      faults.notFound(
        `${at}[${index}]`,
        name,
        `must be one of the names in pod.spec.resourceClaims ${which}`,
      );
    }
    seen.add(name);
  }
}

/** An IntOrString that is a count or a percentage. */
export function checkCountOrPercent(faults: Faults, at: string, value: Json | undefined): void {
  if (typeof value === "string") faults.each(at, value, percentage(value));
  else if (typeof value === "number") faults.atLeast(at, value);
}

/** Percentages above a hundred are invalid for some fields. */
export function notAboveAll(faults: Faults, at: string, value: Json | undefined): void {
  if (typeof value === "string" && /^\d+%$/.test(value) && Number(value.slice(0, -1)) > 100) {
    faults.invalid(at, value, "must not be greater than 100%");
  }
}

/** A count as it is, a percentage as its number; zero for what is neither. */
export function countOrPercent(value: Json | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value === "string" && /^\d+%$/.test(value)) return Number(value.slice(0, -1));
  return 0;
}

/** Whether a resource list says anything at all. */
export function anyAmount(object: JsonObject, name: string): boolean {
  return hasAt(object, name) && Object.keys(objectAt(object, name)).length > 0;
}
