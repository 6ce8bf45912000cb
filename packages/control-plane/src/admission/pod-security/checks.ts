import type { JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, specOf, textAt, textsAt } from "../../json-fields.ts";

/**
 * The Pod Security level: `baseline` forbids known privilege escalations, `restricted` allows only
 * hardened pods.
 */
export type Level = "baseline" | "restricted";

interface View {
  readonly spec: JsonObject;
  readonly context: JsonObject;
  readonly containers: readonly JsonObject[];
}

type Check = (view: View) => string | undefined;

/** What of a pod goes beyond a level, in the real server's words. */
export function violations(pod: JsonObject, level: Level): string[] {
  const spec = specOf(pod);
  const view: View = {
    spec,
    context: objectAt(spec, "securityContext"),
    containers: [
      ...itemsAt(spec, "initContainers"),
      ...itemsAt(spec, "containers"),
      ...itemsAt(spec, "ephemeralContainers"),
    ],
  };
  const checks = level === "baseline" ? baseline : [...alwaysBaseline, ...restricted];
  return checks.map((check) => check(view)).filter((said) => said !== undefined);
}

const contextOf = (container: JsonObject): JsonObject => objectAt(container, "securityContext");
const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(", ");

/** `container "c"` or `containers "c", "d"`. */
function named(containers: readonly JsonObject[]): string {
  const names = containers.map((container) => textAt(container, "name"));
  return `${names.length === 1 ? "container" : "containers"} ${quoted(names)}`;
}

/** The pod itself, its containers, or both, as the subject of a complaint. */
function subjects(pod: boolean, containers: readonly JsonObject[]): string {
  if (containers.length === 0) return "pod";
  return pod ? `pod and ${named(containers)}` : named(containers);
}

const unique = (values: readonly string[]): string[] => [...new Set(values)].sort();

const appArmor: Check = ({ context, containers }) => {
  const bad = (holder: JsonObject) => textAt(objectAt(holder, "appArmorProfile"), "type") === "Unconfined";
  const offenders = containers.filter((container) => bad(contextOf(container)));
  if (!bad(context) && offenders.length === 0) return undefined;
  return `forbidden AppArmor profile (${subjects(bad(context), offenders)} must not set AppArmor profile type to "Unconfined")`;
};

const defaultCapabilities = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

const addedBy = (container: JsonObject): string[] =>
  textsAt(objectAt(contextOf(container), "capabilities"), "add");

const capabilitiesBaseline: Check = ({ containers }) => {
  const bad = (container: JsonObject) => addedBy(container).filter((one) => !defaultCapabilities.has(one));
  const offenders = containers.filter((container) => bad(container).length > 0);
  if (offenders.length === 0) return undefined;
  const names = unique(offenders.flatMap(bad));
  return `non-default capabilities (${named(offenders)} must not include ${quoted(names)} in securityContext.capabilities.add)`;
};

const hostNamespaces: Check = ({ spec }) => {
  const used = ["hostNetwork", "hostPID", "hostIPC"].filter((part) => spec[part] === true);
  if (used.length === 0) return undefined;
  return `host namespaces (${used.map((part) => `${part}=true`).join(", ")})`;
};

const hostPaths: Check = ({ spec }) => {
  const names = itemsAt(spec, "volumes")
    .filter((volume) => hasAt(volume, "hostPath"))
    .map((volume) => textAt(volume, "name"));
  if (names.length === 0) return undefined;
  return `hostPath volumes (${names.length === 1 ? "volume" : "volumes"} ${quoted(names)})`;
};

const hostPorts: Check = ({ containers }) => {
  const ports = (container: JsonObject) =>
    itemsAt(container, "ports")
      .map((port) => numberAt(port, "hostPort") ?? 0)
      .filter((port) => port !== 0);
  const offenders = containers.filter((container) => ports(container).length > 0);
  if (offenders.length === 0) return undefined;
  const numbers = unique(offenders.flatMap(ports).map(String));
  const verb = offenders.length === 1 ? "uses" : "use";
  const noun = numbers.length === 1 ? "hostPort" : "hostPorts";
  return `hostPort (${named(offenders)} ${verb} ${noun} ${numbers.join(", ")})`;
};

const probeHosts: Check = ({ containers }) => {
  const hosts = (container: JsonObject): string[] => {
    const lifecycle = objectAt(container, "lifecycle");
    const handlers = [
      objectAt(container, "livenessProbe"),
      objectAt(container, "readinessProbe"),
      objectAt(container, "startupProbe"),
      objectAt(lifecycle, "postStart"),
      objectAt(lifecycle, "preStop"),
    ];
    return handlers
      .flatMap((handler) => [
        textAt(objectAt(handler, "httpGet"), "host"),
        textAt(objectAt(handler, "tcpSocket"), "host"),
      ])
      .filter((host) => host !== "" && host !== "127.0.0.1" && host !== "::1");
  };
  const offenders = containers.filter((container) => hosts(container).length > 0);
  if (offenders.length === 0) return undefined;
  const names = unique(offenders.flatMap(hosts));
  const verb = offenders.length === 1 ? "uses" : "use";
  const noun = names.length === 1 ? "host" : "hosts";
  return `probe or lifecycle host (${named(offenders)} ${verb} probe or lifecycle ${noun} ${quoted(names)})`;
};

const privileged: Check = ({ containers }) => {
  const offenders = containers.filter((container) => contextOf(container).privileged === true);
  if (offenders.length === 0) return undefined;
  return `privileged (${named(offenders)} must not set securityContext.privileged=true)`;
};

const procMount: Check = ({ containers }) => {
  const bad = (container: JsonObject) => !["", "Default"].includes(textAt(contextOf(container), "procMount"));
  const offenders = containers.filter(bad);
  if (offenders.length === 0) return undefined;
  const values = unique(offenders.map((container) => textAt(contextOf(container), "procMount")));
  return `procMount (${named(offenders)} must not set securityContext.procMount to ${quoted(values)})`;
};

const seLinuxTypes = new Set([
  "",
  "container_t",
  "container_init_t",
  "container_kvm_t",
  "container_engine_t",
]);

const seLinux: Check = ({ context, containers }) => {
  const options = (holder: JsonObject) => objectAt(holder, "seLinuxOptions");
  const bad = (holder: JsonObject) =>
    !seLinuxTypes.has(textAt(options(holder), "type")) ||
    textAt(options(holder), "user") !== "" ||
    textAt(options(holder), "role") !== "";
  const offenders = containers.filter((container) => bad(contextOf(container)));
  if (!bad(context) && offenders.length === 0) return undefined;
  const all = [context, ...containers.map(contextOf)];
  const types = unique(
    all.map((holder) => textAt(options(holder), "type")).filter((type) => !seLinuxTypes.has(type)),
  );
  const details = [
    ...(types.length === 0 ? [] : [`${types.length === 1 ? "type" : "types"} ${quoted(types)}`]),
    ...["user", "role"]
      .filter((part) => all.some((holder) => textAt(options(holder), part) !== ""))
      .map((part) => `${part} may not be set`),
  ];
  return `seLinuxOptions (${subjects(bad(context), offenders)} set forbidden securityContext.seLinuxOptions: ${details.join("; ")})`;
};

const seccompOf = (holder: JsonObject): string => textAt(objectAt(holder, "seccompProfile"), "type");

const seccompBaseline: Check = ({ context, containers }) => {
  const bad = (holder: JsonObject) => seccompOf(holder) === "Unconfined";
  const offenders = containers.filter((container) => bad(contextOf(container)));
  if (!bad(context) && offenders.length === 0) return undefined;
  return `seccompProfile (${subjects(bad(context), offenders)} must not set securityContext.seccompProfile.type to "Unconfined")`;
};

const safeSysctls = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
]);

const sysctls: Check = ({ context }) => {
  const bad = itemsAt(context, "sysctls")
    .map((sysctl) => textAt(sysctl, "name"))
    .filter((name) => !safeSysctls.has(name));
  return bad.length === 0 ? undefined : `forbidden sysctls (${bad.join(", ")})`;
};

const hostProcess: Check = ({ context, containers }) => {
  const bad = (holder: JsonObject) => objectAt(holder, "windowsOptions").hostProcess === true;
  const offenders = containers.filter((container) => bad(contextOf(container)));
  if (!bad(context) && offenders.length === 0) return undefined;
  return `hostProcess (${subjects(bad(context), offenders)} must not set securityContext.windowsOptions.hostProcess=true)`;
};

const allowPrivilegeEscalation: Check = ({ containers }) => {
  const offenders = containers.filter((container) => contextOf(container).allowPrivilegeEscalation !== false);
  if (offenders.length === 0) return undefined;
  return `allowPrivilegeEscalation != false (${named(offenders)} must set securityContext.allowPrivilegeEscalation=false)`;
};

const capabilitiesRestricted: Check = ({ containers }) => {
  const drops = (container: JsonObject) => textsAt(objectAt(contextOf(container), "capabilities"), "drop");
  const keeping = containers.filter((container) => !drops(container).includes("ALL"));
  const bad = (container: JsonObject) => addedBy(container).filter((one) => one !== "NET_BIND_SERVICE");
  const adding = containers.filter((container) => bad(container).length > 0);
  const details = [
    ...(keeping.length === 0 ? [] : [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [
          `${named(adding)} must not include ${quoted(unique(adding.flatMap(bad)))} in securityContext.capabilities.add`,
        ]),
  ];
  return details.length === 0 ? undefined : `unrestricted capabilities (${details.join("; ")})`;
};

const plainVolumes = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

const restrictedVolumes: Check = ({ spec }) => {
  const typeOf = (volume: JsonObject) => Object.keys(volume).find((part) => part !== "name") ?? "emptyDir";
  const bad = itemsAt(spec, "volumes").filter((volume) => !plainVolumes.has(typeOf(volume)));
  if (bad.length === 0) return undefined;
  const names = quoted(bad.map((volume) => textAt(volume, "name")));
  const types = unique(bad.map(typeOf));
  const [noun, verb] = bad.length === 1 ? ["volume", "uses"] : ["volumes", "use"];
  return `restricted volume types (${noun} ${names} ${verb} restricted volume ${types.length === 1 ? "type" : "types"} ${quoted(types)})`;
};

const runAsNonRoot: Check = ({ context, containers }) => {
  const explicitly = containers.filter((container) => contextOf(container).runAsNonRoot === false);
  const podSaysNo = context.runAsNonRoot === false;
  if (podSaysNo || explicitly.length > 0) {
    return `runAsNonRoot != true (${subjects(podSaysNo, explicitly)} must not set securityContext.runAsNonRoot=false)`;
  }
  if (context.runAsNonRoot === true) return undefined;
  const silent = containers.filter((container) => !hasAt(contextOf(container), "runAsNonRoot"));
  if (silent.length === 0) return undefined;
  return `runAsNonRoot != true (pod or ${named(silent)} must set securityContext.runAsNonRoot=true)`;
};

const runAsUser: Check = ({ context, containers }) => {
  const bad = (holder: JsonObject) => field(holder, "runAsUser") === 0;
  const offenders = containers.filter((container) => bad(contextOf(container)));
  if (!bad(context) && offenders.length === 0) return undefined;
  return `runAsUser=0 (${subjects(bad(context), offenders)} must not set runAsUser=0)`;
};

const seccompRestricted: Check = ({ context, containers }) => {
  const good = (holder: JsonObject) => ["RuntimeDefault", "Localhost"].includes(seccompOf(holder));
  const bad = (holder: JsonObject) => seccompOf(holder) !== "" && !good(holder);
  const offenders = containers.filter((container) => bad(contextOf(container)));
  if (bad(context) || offenders.length > 0) {
    return `seccompProfile (${subjects(bad(context), offenders)} must not set securityContext.seccompProfile.type to "Unconfined")`;
  }
  if (good(context)) return undefined;
  const silent = containers.filter((container) => seccompOf(contextOf(container)) === "");
  if (silent.length === 0) return undefined;
  return `seccompProfile (pod or ${named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`;
};

/**
 * Baseline checks that the restricted level keeps as they are; the rest of them it has stricter
 * ones for.
 */
const alwaysBaseline: readonly Check[] = [
  appArmor,
  hostNamespaces,
  hostPorts,
  probeHosts,
  privileged,
  procMount,
  seLinux,
  sysctls,
  hostProcess,
];
const baseline: readonly Check[] = [
  appArmor,
  capabilitiesBaseline,
  hostNamespaces,
  hostPaths,
  hostPorts,
  probeHosts,
  privileged,
  procMount,
  seLinux,
  seccompBaseline,
  sysctls,
  hostProcess,
];
const restricted: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
];
