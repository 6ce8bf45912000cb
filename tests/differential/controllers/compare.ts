import {
  equal,
  isObject,
  type Json,
  type JsonObject,
  textOf,
} from "../../../packages/control-plane/src/json.ts";

/**
 * What the controllers of a namespace made, with all that must differ between two clusters made the
 * same.
 */
export interface ObservedState {
  readonly objects: ReadonlyMap<string, JsonObject>;
  readonly events: ReadonlySet<string>;
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const ip = /\b\d{1,3}(\.\d{1,3}){3}\b/g;
const dropped = new Set(["managedFields", "resourceVersion", "containerID", "imageID", "hostPath"]);

/** @param items every object of the namespace, events among them */
export function seenIn(items: readonly JsonObject[], namespace: string): ObservedState {
  const names = generatedNames(items);
  const settle = (value: Json, key: string): Json => {
    if (Array.isArray(value)) return value.map((item) => settle(item, key));
    if (isObject(value)) {
      return Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => !dropped.has(name))
          .map(([name, item]) => [name, settle(item, name)]),
      );
    }
    if (typeof value !== "string") return value;
    let text = value
      .replace(uid, "<uid>")
      .replace(time, "<time>")
      .replace(ip, "<ip>")
      .replaceAll(namespace, "<namespace>");
    for (const [from, to] of names) text = text.replaceAll(from, to);
    return text
      .replace(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access-<suffix>")
      .replace(/^(lab|windlass-node)$|(?<=to )(lab|windlass-node)$/, "<node>")
      .replace(/docker\.io\/library\//, "");
  };
  const objects = new Map<string, JsonObject>();
  const events = new Set<string>();
  for (const item of items) {
    const settled = settle(item, "") as JsonObject;
    const metadata = settled.metadata as JsonObject;
    if (item.kind === "Event") {
      const about = settled.involvedObject as JsonObject;
      const { reason, message, type, reportingComponent } = settled;
      events.add(
        JSON.stringify([about.kind, about.name, about.fieldPath, type, reason, message, reportingComponent]),
      );
      continue;
    }
    const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
    const revision = textOf(item.revision ?? annotations["deployment.kubernetes.io/revision"]);
    let name = `${textOf(item.kind)} ${textOf(metadata.name)}${revision && `@${revision}`}`;
    while (objects.has(name)) name += "'";
    objects.set(name, settled);
  }
  return { objects, events };
}

/** Names and hashes that each cluster makes up, longest first, with what stands for them. */
function generatedNames(items: readonly JsonObject[]): [string, string][] {
  const names = new Map<string, string>();
  for (const { metadata, kind, message } of items) {
    if (!isObject(metadata)) continue;
    if (kind === "Event") {
      // Pods that were deleted already: only events still name them.
      const [, gone, prefix] = /^Created pod: ((.+-)[a-z0-9]{5})$/.exec(textOf(message)) ?? [];
      if (gone !== undefined) names.set(gone, `${prefix}<suffix>`);
      continue;
    }
    const { name, generateName, labels } = metadata;
    for (const label of ["pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash"]) {
      const hash = isObject(labels) ? labels[label] : undefined;
      if (typeof hash === "string") names.set(hash.split("-").at(-1) as string, "<hash>");
    }
    if (typeof generateName !== "string" || typeof name !== "string" || /-\d+$/.test(name)) continue;
    names.set(name, `${generateName}<suffix>`);
  }
  const hashes = [...names].filter(([, to]) => to === "<hash>");
  const settled = [...names].map(([from, to]): [string, string] => [
    from,
    hashes.reduce((text, [hash, mark]) => (to === "<hash>" ? text : text.replaceAll(hash, mark)), to),
  ]);
  return settled.sort(([a], [b]) => b.length - a.length);
}

/** Where two clusters part. */
export function differences(real: ObservedState, ours: ObservedState): string[] {
  const found: string[] = [];
  for (const name of [...new Set([...real.objects.keys(), ...ours.objects.keys()])].sort()) {
    walk(real.objects.get(name), ours.objects.get(name), name, found);
  }
  for (const event of real.events) if (!ours.events.has(event)) found.push(`event only real: ${event}`);
  for (const event of ours.events) if (!real.events.has(event)) found.push(`event only ours: ${event}`);
  return found;
}

function walk(real: Json | undefined, ours: Json | undefined, path: string, found: string[]): void {
  if (equal(real, ours)) return;
  if (isObject(real) && isObject(ours)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)]))
      walk(real[key], ours[key], `${path}.${key}`, found);
  } else if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length) {
    real.forEach((item, index) => {
      walk(item, ours[index], `${path}[${index}]`, found);
    });
  } else found.push(`${path}: real ${show(real)}, ours ${show(ours)}`);
}

function show(value: Json | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 300);
}
