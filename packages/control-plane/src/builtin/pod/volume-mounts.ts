import type { JsonObject } from "../../json.ts";
import { hasAt, itemsAt, objectAt, textAt } from "../../json-fields.ts";
import type { Faults } from "../../validation/faults.ts";

/** The volumes of a pod, by name. */
export type Volumes = ReadonlyMap<string, JsonObject>;

const propagations = ["Bidirectional", "HostToContainer", "None"];

/** The mounts and block devices of a container. */
export function checkMounts(faults: Faults, at: string, container: JsonObject, volumes: Volumes): void {
  const paths = new Set<string>();
  const mounts = itemsAt(container, "volumeMounts");
  const devices = itemsAt(container, "volumeDevices");
  const devicesAt = new Set(devices.map((device) => textAt(device, "devicePath")));
  const privileged = objectAt(container, "securityContext").privileged === true;
  for (const [index, mount] of mounts.entries()) {
    const path = `${at}.volumeMounts[${index}]`;
    const name = textAt(mount, "name");
    if (name === "") faults.required(`${path}.name`);
    const volume = volumes.get(name);
    if (!volume) faults.notFound(`${path}.name`, name);
    const where = textAt(mount, "mountPath");
    if (where === "") faults.required(`${path}.mountPath`);
    if (paths.has(where)) faults.invalid(`${path}.mountPath`, where, "must be unique");
    paths.add(where);
    if (devicesAt.has(where)) {
      faults.invalid(`${path}.mountPath`, where, "must not already exist as a path in volumeDevices");
    }
    checkMount(faults, `${at}.volumeMounts`, path, mount, privileged);
  }
  const devicePaths = new Set<string>();
  const mounted = new Set(mounts.map((mount) => textAt(mount, "name")));
  for (const [index, device] of devices.entries()) {
    checkDevice(faults, `${at}.volumeDevices[${index}]`, device, { volumes, paths, devicePaths, mounted });
  }
}

function checkMount(
  faults: Faults,
  list: string,
  path: string,
  mount: JsonObject,
  privileged: boolean,
): void {
  const subPath = textAt(mount, "subPath");
  const expression = textAt(mount, "subPathExpr");
  if (subPath !== "") checkDescendingPath(faults, `${list}.subPath`, subPath);
  if (expression !== "") {
    if (subPath !== "") {
      faults.invalid(`${path}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive");
    }
    checkDescendingPath(faults, `${list}.subPathExpr`, expression);
  }
  if (hasAt(mount, "mountPropagation")) {
    const propagation = textAt(mount, "mountPropagation");
    if (!propagations.includes(propagation))
      faults.unsupported(`${list}.mountPropagation`, propagation, propagations);
    if (propagation === "Bidirectional" && !privileged) {
      faults.forbidden(
        `${list}.mountPropagation`,
        "Bidirectional mount propagation is available only to privileged containers",
      );
    }
  }
  const recursive = textAt(mount, "recursiveReadOnly");
  if (recursive === "" || recursive === "Disabled") return;
  if (recursive !== "Enabled" && recursive !== "IfPossible") {
    faults.unsupported(`${list}.recursiveReadOnly`, recursive, ["Disabled", "Enabled", "IfPossible"]);
  } else {
    if (mount.readOnly !== true) {
      faults.forbidden(`${list}.recursiveReadOnly`, "may only be specified when readOnly is true");
    }
    if (hasAt(mount, "mountPropagation") && textAt(mount, "mountPropagation") !== "None") {
      faults.forbidden(
        `${list}.recursiveReadOnly`,
        "may only be specified when mountPropagation is None or not specified",
      );
    }
  }
}

function checkDevice(
  faults: Faults,
  path: string,
  device: JsonObject,
  known: { volumes: Volumes; paths: Set<string>; devicePaths: Set<string>; mounted: ReadonlySet<string> },
): void {
  const name = textAt(device, "name");
  if (name === "") faults.required(`${path}.name`);
  if (known.mounted.has(name)) {
    faults.invalid(`${path}.name`, name, "must not already exist in volumeMounts");
  }
  const volume = known.volumes.get(name);
  if (!volume) faults.notFound(`${path}.name`, name);
  else if (!hasAt(volume, "persistentVolumeClaim") && !hasAt(volume, "ephemeral")) {
    faults.invalid(
      `${path}.name`,
      name,
      "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
    );
  }
  const where = textAt(device, "devicePath");
  if (where === "") {
    faults.required(`${path}.devicePath`);
    return;
  }
  checkNoBacksteps(faults, `${path}.devicePath`, where);
  if (known.devicePaths.has(where)) faults.invalid(`${path}.devicePath`, where, "must be unique");
  known.devicePaths.add(where);
  if (known.paths.has(where)) {
    faults.invalid(`${path}.devicePath`, where, "must not already exist as a path in volumeMounts");
  }
}

/** A path that stays below where it starts. */
export function checkDescendingPath(faults: Faults, at: string, path: string): void {
  if (path.startsWith("/")) faults.invalid(at, path, "must be a relative path");
  checkNoBacksteps(faults, at, path);
}

export function checkNoBacksteps(faults: Faults, at: string, path: string): void {
  if (path.split("/").includes("..")) faults.invalid(at, path, "must not contain '..'");
}

/** A path below where it starts whose first part is no hidden name of the kubelet's. */
export function checkLocalPath(faults: Faults, at: string, path: string): void {
  checkDescendingPath(faults, at, path);
  if (path.startsWith("..") && !path.startsWith("../")) faults.invalid(at, path, "must not start with '..'");
}
