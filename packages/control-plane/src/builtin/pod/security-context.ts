import type { JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import type { Faults } from "../../validation/faults.ts";
import { internal } from "../../validation/go-value.ts";

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
const mostIds = 2147483647;

function checkId(faults: Faults, at: string, id: number | undefined): void {
  if (id !== undefined && (id < 0 || id > mostIds)) {
    faults.invalid(at, id, `must be between 0 and ${mostIds}, inclusive`);
  }
}

export function checkContainerSecurity(faults: Faults, at: string, context: JsonObject): void {
  for (const part of ["runAsUser", "runAsGroup"]) checkId(faults, `${at}.${part}`, numberAt(context, part));
  if (hasAt(context, "procMount")) {
    faults.oneOf(`${at}.procMount`, textAt(context, "procMount"), ["Default", "Unmasked"]);
  }
  checkSeccomp(faults, `${at}.seccompProfile`, context);
  if (context.allowPrivilegeEscalation === false) {
    const shown = internal("SecurityContext", context);
    if (context.privileged === true) {
      faults.invalid(at, shown, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
    if (textsAt(objectAt(context, "capabilities"), "add").includes("CAP_SYS_ADMIN")) {
      faults.invalid(
        at,
        shown,
        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
      );
    }
  }
  checkWindows(faults, `${at}.windowsOptions`, context);
  checkAppArmor(faults, `${at}.appArmorProfile`, context);
}

function checkWindows(faults: Faults, at: string, context: JsonObject): void {
  if (!hasAt(context, "windowsOptions")) return;
  const options = objectAt(context, "windowsOptions");
  if (hasAt(options, "gmsaCredentialSpecName") && textAt(options, "gmsaCredentialSpecName") === "") {
    faults.invalid(`${at}.gmsaCredentialSpecName`, "", "gmsaCredentialSpecName cannot be an empty string");
  }
  if (hasAt(options, "runAsUserName") && textAt(options, "runAsUserName") === "") {
    faults.invalid(`${at}.runAsUserName`, "", "runAsUserName cannot be an empty string");
  }
}

function checkSeccomp(faults: Faults, at: string, context: JsonObject): void {
  if (!hasAt(context, "seccompProfile")) return;
  const profile = objectAt(context, "seccompProfile");
  const type = textAt(profile, "type");
  if (type === "") {
    faults.required(`${at}.type`, "type is required when seccompProfile is set");
  } else if (type === "Localhost") {
    if (!hasAt(profile, "localhostProfile")) {
      faults.required(`${at}.localhostProfile`, "must be set when seccomp type is Localhost");
    }
  } else {
    if (hasAt(profile, "localhostProfile")) {
      faults.invalid(
        `${at}.localhostProfile`,
        internal("SeccompProfile", profile),
        "can only be set when seccomp type is Localhost",
      );
    }
    faults.oneOf(`${at}.type`, type, profileTypes);
  }
}

function checkAppArmor(faults: Faults, at: string, context: JsonObject): void {
  if (!hasAt(context, "appArmorProfile")) return;
  const profile = objectAt(context, "appArmorProfile");
  const type = textAt(profile, "type");
  if (type === "") faults.required(`${at}.type`, "type is required when appArmorProfile is set");
  else if (type === "Localhost") {
    if (!hasAt(profile, "localhostProfile")) {
      faults.required(`${at}.localhostProfile`, "must be set when AppArmor type is Localhost");
    }
  } else {
    if (hasAt(profile, "localhostProfile")) {
      faults.invalid(
        `${at}.localhostProfile`,
        textAt(profile, "localhostProfile"),
        "can only be set when AppArmor type is Localhost",
      );
    }
    faults.oneOf(`${at}.type`, type, profileTypes);
  }
}

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlRegex = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/**
 * The pod's own security context, and the fields of its spec that the real server keeps with it.
 */
export function checkPodSecurity(faults: Faults, at: string, spec: JsonObject): void {
  const context = objectAt(spec, "securityContext");
  if (spec.hostNetwork === true) checkHostNetworkPorts(faults, at, spec);
  const path = `${at}.securityContext`;
  for (const part of ["fsGroup", "runAsUser", "runAsGroup"])
    checkId(faults, `${path}.${part}`, numberAt(context, part));
  const groups = (field(context, "supplementalGroups") ?? []) as number[];
  for (const [index, group] of groups.entries())
    checkId(faults, `${path}.supplementalGroups[${index}]`, group);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    faults.invalid(
      `${path}.shareProcessNamespace`,
      true,
      "ShareProcessNamespace and HostPID cannot both be enabled",
    );
  }
  checkSysctls(faults, `${path}.sysctls`, context, spec);
  if (hasAt(context, "fsGroupChangePolicy")) {
    faults.oneOf(`${path}.fsGroupChangePolicy`, textAt(context, "fsGroupChangePolicy"), [
      "Always",
      "OnRootMismatch",
    ]);
  }
  checkSeccomp(faults, `${path}.seccompProfile`, context);
  checkWindows(faults, `${path}.windowsOptions`, context);
  checkAppArmor(faults, `${path}.appArmorProfile`, context);
  if (hasAt(context, "supplementalGroupsPolicy")) {
    faults.oneOf(`${path}.supplementalGroupsPolicy`, textAt(context, "supplementalGroupsPolicy"), [
      "Merge",
      "Strict",
    ]);
  }
}

function checkSysctls(faults: Faults, at: string, context: JsonObject, spec: JsonObject): void {
  const names = new Set<string>();
  for (const [index, sysctl] of itemsAt(context, "sysctls").entries()) {
    const name = textAt(sysctl, "name");
    const path = `${at}[${index}].name`;
    if (name === "") faults.required(path);
    else if (name.length > 253 || !sysctlName.test(name)) {
      faults.invalid(path, name, `must have at most 253 characters and match regex ${sysctlRegex}`);
    } else if (names.has(name)) faults.duplicate(path, name);
    if (spec.hostNetwork === true && name.startsWith("net.")) {
      faults.invalid(path, name, "may not be specified when 'hostNetwork' is true");
    }
    if (spec.hostIPC === true && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(name)) {
      faults.invalid(path, name, "may not be specified when 'hostIPC' is true");
    }
    names.add(name);
  }
}

function checkHostNetworkPorts(faults: Faults, at: string, spec: JsonObject): void {
  for (const [index, container] of itemsAt(spec, "containers").entries()) {
    for (const [place, port] of itemsAt(container, "ports").entries()) {
      const outside = numberAt(port, "hostPort") ?? 0;
      if (outside !== (numberAt(port, "containerPort") ?? 0)) {
        faults.invalid(
          `${at}.containers[${index}].ports[${place}].hostPort`,
          outside,
          "must match `containerPort` when `hostNetwork` is true",
        );
      }
    }
  }
}
