import { type JsonObject, textOf } from "../../json.ts";
import { hasAt, itemsAt, objectAt, pairsAt, textAt } from "../../json-fields.ts";
import { amount, isWhole } from "../../validation/amounts.ts";

const deprecatedNodeLabels: { readonly [key: string]: string } = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region":
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone":
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type":
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

/** Warns about valid but probably unintended parts of a pod's spec. */
export function podWarnings(
  spec: JsonObject,
  at: string,
  metadata: JsonObject,
  warn: (text: string) => void,
): void {
  for (const [key] of pairsAt(spec, "nodeSelector")) {
    const why = Object.hasOwn(deprecatedNodeLabels, key) ? deprecatedNodeLabels[key] : undefined;
    if (why !== undefined) warn(`${at}.nodeSelector[${key}]: ${why}`);
  }
  const aliased = new Set<string>();
  for (const [index, alias] of itemsAt(spec, "hostAliases").entries()) {
    const ip = textAt(alias, "ip");
    if (aliased.has(ip)) warn(`${at}.hostAliases[${index}].ip: duplicate ip "${ip}"`);
    aliased.add(ip);
  }
  for (const [index, secret] of itemsAt(spec, "imagePullSecrets").entries()) {
    if (textAt(secret, "name") === "") warn(`${at}.imagePullSecrets[${index}].name: invalid empty name ""`);
  }
  for (const [index, volume] of itemsAt(spec, "volumes").entries())
    volumeWarnings(volume, `${at}.volumes[${index}]`, warn);
  for (const list of ["initContainers", "containers"]) {
    for (const [index, container] of itemsAt(spec, list).entries()) {
      containerWarnings(container, `${at}.${list}[${index}]`, warn);
    }
  }
  portWarnings(spec, at, warn);
  if (hasAt(objectAt(metadata, "annotations"), "seccomp.security.alpha.kubernetes.io/pod")) {
    warn(
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
    );
  }
  for (const [key] of pairsAt(metadata, "annotations")) {
    if (key.startsWith("container.seccomp.security.alpha.kubernetes.io/")) {
      warn(`metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
    } else if (key.startsWith("container.apparmor.security.beta.kubernetes.io/")) {
      warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    }
  }
}

const nonFunctional: { readonly [source: string]: string } = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  flocker: "deprecated in v1.22, non-functional in v1.25+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};

function volumeWarnings(volume: JsonObject, at: string, warn: (text: string) => void): void {
  for (const [source, why] of Object.entries(nonFunctional))
    if (hasAt(volume, source)) warn(`${at}.${source}: ${why}`);
  if (hasAt(volume, "projected")) {
    const sources = itemsAt(objectAt(volume, "projected"), "sources");
    if (sources.some((source) => Object.keys(source).length === 0)) {
      warn(`volume "${textAt(volume, "name")}" (Projected) has no sources provided`);
    }
  }
}

function containerWarnings(container: JsonObject, at: string, warn: (text: string) => void): void {
  for (const bound of ["limits", "requests"]) {
    for (const name of ["memory", "ephemeral-storage"]) {
      const value = objectAt(objectAt(container, "resources"), bound)[name];
      if (value !== undefined && !isWhole(value) && amount(value).nanos > 0n) {
        warn(
          `${at}.resources.${bound}[${name}]: fractional byte value "${textOf(value)}" is invalid, must be an integer`,
        );
      }
    }
  }
  const seen = new Map<string, number>();
  for (const [index, variable] of itemsAt(container, "env").entries()) {
    const name = textAt(variable, "name");
    if (seen.has(name))
      warn(`${at}.env[${index}]: hides previous definition of "${name}", which may be unintentional`);
    seen.set(name, index);
  }
}

interface PlacedPort {
  readonly at: string;
  readonly hostIP: string;
  readonly hostPort: number;
}

/** Ports that several containers of a pod, or one of them several times, lay claim to. */
function portWarnings(spec: JsonObject, at: string, warn: (text: string) => void): void {
  const claimed = new Map<string, PlacedPort[]>();
  const names = new Map<string, string>();
  for (const list of ["initContainers", "containers"]) {
    for (const [index, container] of itemsAt(spec, list).entries()) {
      for (const [position, port] of itemsAt(container, "ports").entries()) {
        const own = {
          at: `${at}.${list}[${index}].ports[${position}]`,
          hostIP: textAt(port, "hostIP"),
          hostPort: Number(port.hostPort ?? 0),
        };
        const [number, protocol] = [textOf(port.containerPort), textAt(port, "protocol")];
        if (own.hostIP !== "" && own.hostPort === 0) {
          const shown = `Name:${textAt(port, "name")} HostPort:0 ContainerPort:${number} Protocol:${protocol} HostIP:${own.hostIP}`;
          warn(`${own.at}: hostIP set without hostPort: {${shown}}`);
        }
        const others = claimed.get(`${number}/${protocol}`) ?? [];
        for (const other of others) {
          const how = overlap(own, other);
          if (how !== undefined) warn(`${own.at}: ${how} port definition with ${other.at}`);
        }
        claimed.set(`${number}/${protocol}`, [...others, own]);
        const portName = textAt(port, "name");
        const named = names.get(portName);
        if (named !== undefined) {
          warn(
            `${own.at}: duplicate port name "${portName}" with ${named}, services and probes that select ports by name will use ${named}`,
          );
        } else if (portName !== "") names.set(portName, own.at);
      }
    }
  }
}

function overlap(a: PlacedPort, b: PlacedPort): string | undefined {
  if (a.hostIP === b.hostIP && a.hostPort === b.hostPort) return "duplicate";
  if (a.hostPort === 0 || b.hostPort === 0) return "overlapping";
  const isOpen = (a.hostIP === "") !== (b.hostIP === "");
  return a.hostPort === b.hostPort && isOpen ? "dangerously ambiguous" : undefined;
}
