import { isObject, type JsonObject } from "../../json.ts";
import { hasAt, itemsAt, numberAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import { amount } from "../../validation/amounts.ts";
import type { Faults } from "../../validation/faults.ts";
import { checkAnnotations, checkLabels, dnsLabel, dnsSubdomain } from "../../validation/names.ts";
import { checkClaimSpec } from "../persistent-volume-claim/spec.ts";
import { checkFieldReference, checkResourceReference, volumeFields } from "./containers.ts";
import { checkDescendingPath, checkLocalPath, checkNoBacksteps, type Volumes } from "./volume-mounts.ts";

/** Checks a pod's volumes. @returns those with a sound name, for the mounts to refer to */
export function checkVolumes(faults: Faults, at: string, volumes: readonly JsonObject[]): Volumes {
  const known = new Map<string, JsonObject>();
  for (const [index, volume] of volumes.entries()) {
    const path = `${at}[${index}]`;
    const before = faults.causes.length;
    checkSource(faults, path, volume);
    const name = textAt(volume, "name");
    if (name === "") faults.required(`${path}.name`);
    else {
      faults.each(`${path}.name`, name, dnsLabel(name));
      if (known.has(name)) faults.duplicate(`${path}.name`, name);
    }
    if (faults.causes.length === before) known.set(name, volume);
  }
  return known;
}

type SourceCheck = (faults: Faults, at: string, source: JsonObject) => void;

/** In the order the real server looks at them, as it complains of every one after the first. */
const sources: { readonly [name: string]: SourceCheck } = {
  emptyDir: (faults, at, source) => {
    if (hasAt(source, "sizeLimit") && amount(source.sizeLimit).nanos < 0n) {
      faults.forbidden(`${at}.sizeLimit`, "SizeLimit field must be a valid resource quantity");
    }
  },
  hostPath: checkHostPath,
  gitRepo: (faults, at, source) => {
    if (textAt(source, "repository") === "") faults.required(`${at}.repository`);
    checkLocalPath(faults, `${at}.directory`, textAt(source, "directory"));
  },
  gcePersistentDisk: (faults, at, source) => needs(faults, at, source, "pdName"),
  awsElasticBlockStore: (faults, at, source) => needs(faults, at, source, "volumeID"),
  secret: (faults, at, source) => {
    needs(faults, at, source, "secretName");
    checkKeys(faults, at, source);
  },
  nfs: checkNfs,
  iscsi: (faults, at, source) => needs(faults, at, source, "targetPortal", "iqn"),
  glusterfs: (faults, at, source) => needs(faults, at, source, "endpoints", "path"),
  flocker: () => undefined,
  persistentVolumeClaim: (faults, at, source) => needs(faults, at, source, "claimName"),
  rbd: checkRbd,
  cinder: (faults, at, source) => needs(faults, at, source, "volumeID"),
  cephfs: checkCephFs,
  quobyte: () => undefined,
  downwardAPI: (faults, at, source) => {
    checkMode(faults, `${at}.defaultMode`, source, "defaultMode");
    for (const item of itemsAt(source, "items")) checkDownward(faults, at, item);
  },
  fc: checkFc,
  flexVolume: (faults, at, source) => needs(faults, at, source, "driver"),
  configMap: (faults, at, source) => {
    needs(faults, at, source, "name");
    checkKeys(faults, at, source);
  },
  azureFile: (faults, at, source) => needs(faults, at, source, "secretName", "shareName"),
  vsphereVolume: (faults, at, source) => needs(faults, at, source, "volumePath"),
  photonPersistentDisk: (faults, at, source) => needs(faults, at, source, "pdID"),
  portworxVolume: (faults, at, source) => needs(faults, at, source, "volumeID"),
  azureDisk: (faults, at, source) => needs(faults, at, source, "diskName", "diskURI"),
  storageos: (faults, at, source) => needs(faults, at, source, "volumeName"),
  projected: checkProjected,
  scaleIO: (faults, at, source) => needs(faults, at, source, "gateway", "system", "volumeName"),
  csi: checkInlineCsi,
  ephemeral: checkEphemeral,
  image: (faults, at, source) => {
    if (textAt(source, "reference") === "") faults.required(`${at}.reference`);
    faults.oneOf(`${at}.pullPolicy`, textAt(source, "pullPolicy"), ["Always", "IfNotPresent", "Never"]);
  },
};

/** Where each source stands in the order the real server looks at them. */
const places = new Map(Object.keys(sources).map((name, place) => [name, place]));
const placeOf = (name: string): number => places.get(name) ?? -1;

function checkSource(faults: Faults, at: string, volume: JsonObject): void {
  let count = 0;
  const given = Object.keys(volume).filter((name) => places.has(name) && hasAt(volume, name));
  for (const name of given.sort((a, b) => placeOf(a) - placeOf(b))) {
    const check = sources[name] as SourceCheck;
    if (count > 0) faults.forbidden(`${at}.${name}`, "may not specify more than 1 volume type");
    else check(faults, `${at}.${name}`, objectAt(volume, name));
    count++;
  }
  if (count === 0) faults.required(at, "must specify a volume type");
}

export function needs(faults: Faults, at: string, source: JsonObject, ...parts: string[]): void {
  for (const part of parts) if (textAt(source, part) === "") faults.required(`${at}.${part}`);
}

const pathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

export function checkHostPath(faults: Faults, at: string, source: JsonObject): void {
  const path = textAt(source, "path");
  if (path === "") {
    faults.required(`${at}.path`);
    return;
  }
  checkNoBacksteps(faults, `${at}.path`, path);
  if (hasAt(source, "type")) faults.oneOf(`${at}.type`, textAt(source, "type"), pathTypes);
}

export function checkRbd(faults: Faults, at: string, source: JsonObject): void {
  checkCephFs(faults, at, source);
  needs(faults, at, source, "image");
}

export function checkCephFs(faults: Faults, at: string, source: JsonObject): void {
  if (textsAt(source, "monitors").length === 0) faults.required(`${at}.monitors`);
}

export function checkFc(faults: Faults, at: string, source: JsonObject): void {
  const [wwns, wwids] = [textsAt(source, "targetWWNs").length, textsAt(source, "wwids").length];
  if (wwns === 0 && wwids === 0) {
    faults.required(`${at}.targetWWNs`, "must specify either targetWWNs or wwids, but not both");
  } else if (wwns > 0 && wwids > 0) {
    faults.invalid(
      `${at}.targetWWNs`,
      textsAt(source, "targetWWNs"),
      "targetWWNs and wwids can not be specified simultaneously",
    );
  } else if (wwns > 0 && !hasAt(source, "lun")) {
    faults.required(`${at}.lun`, "lun is required if targetWWNs is specified");
  }
}

export function checkNfs(faults: Faults, at: string, source: JsonObject): void {
  needs(faults, at, source, "server", "path");
  const path = textAt(source, "path");
  if (!path.startsWith("/")) faults.invalid(`${at}.path`, path, "must be an absolute path");
}

function checkInlineCsi(faults: Faults, at: string, source: JsonObject): void {
  checkDriverName(faults, `${at}.driver`, textAt(source, "driver"));
  if (
    hasAt(source, "nodePublishSecretRef") &&
    textAt(objectAt(source, "nodePublishSecretRef"), "name") === ""
  ) {
    faults.required(`${at}.nodePublishSecretRef.name`);
  }
}

/** Names of CSI drivers: a subdomain of at most 63 characters, capitals allowed. */
export function checkDriverName(faults: Faults, at: string, name: string): void {
  if (name === "") faults.required(at);
  else if (name.length > 63) faults.tooLong(at, 63);
  else faults.each(at, name, dnsSubdomain(name.toLowerCase()));
}

function checkEphemeral(faults: Faults, at: string, source: JsonObject): void {
  if (!isObject(source.volumeClaimTemplate)) {
    faults.required(`${at}.volumeClaimTemplate`);
    return;
  }
  const template = source.volumeClaimTemplate;
  const path = `${at}.volumeClaimTemplate`;
  checkAnnotations(faults, `${path}.metadata.annotations`, objectAt(template, "metadata"));
  checkLabels(faults, `${path}.metadata.labels`, objectAt(template, "metadata"));
  checkClaimSpec(faults, `${path}.spec`, objectAt(template, "spec"));
}

function checkMode(faults: Faults, at: string, source: JsonObject, part: string): void {
  const mode = numberAt(source, part);
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    faults.invalid(at, mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

function checkKeys(faults: Faults, at: string, source: JsonObject): void {
  checkMode(faults, `${at}.defaultMode`, source, "defaultMode");
  for (const [index, item] of itemsAt(source, "items").entries()) {
    const path = `${at}.items[${index}]`;
    if (textAt(item, "key") === "") faults.required(`${path}.key`);
    if (textAt(item, "path") === "") faults.required(`${path}.path`);
    checkLocalPath(faults, `${path}.path`, textAt(item, "path"));
    checkMode(faults, `${path}.mode`, item, "mode");
  }
}

function checkDownward(faults: Faults, at: string, item: JsonObject): void {
  const path = textAt(item, "path");
  if (path === "") faults.required(`${at}.path`);
  checkLocalPath(faults, `${at}.path`, path);
  if (hasAt(item, "fieldRef")) {
    checkFieldReference(faults, `${at}.fieldRef`, objectAt(item, "fieldRef"), volumeFields);
    if (hasAt(item, "resourceFieldRef")) {
      faults.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (hasAt(item, "resourceFieldRef")) {
    checkResourceReference(faults, `${at}.resourceFieldRef`, objectAt(item, "resourceFieldRef"), "volume");
  } else {
    faults.required(at, "one of fieldRef and resourceFieldRef is required");
  }
  checkMode(faults, `${at}.mode`, item, "mode");
}

const projectable = [
  "secret",
  "configMap",
  "downwardAPI",
  "serviceAccountToken",
  "clusterTrustBundle",
  "podCertificate",
];

function checkProjected(faults: Faults, at: string, source: JsonObject): void {
  checkMode(faults, `${at}.defaultMode`, source, "defaultMode");
  const paths = new Set<string>();
  const claim = (path: string) => {
    if (path === "") return;
    if (paths.has(path)) faults.invalid(at, textAt(source, "name"), `conflicting duplicate paths`);
    paths.add(path);
  };
  for (const [index, part] of itemsAt(source, "sources").entries()) {
    const path = `${at}.sources[${index}]`;
    let count = 0;
    for (const name of projectable) {
      if (!hasAt(part, name)) continue;
      count++;
      if (count > 1) {
        faults.forbidden(path, "may not specify more than 1 volume type per source");
        continue;
      }
      checkProjection(faults, at, `${path}.${name}`, name, objectAt(part, name), claim);
    }
  }
}

function checkProjection(
  faults: Faults,
  at: string,
  path: string,
  name: string,
  source: JsonObject,
  claim: (path: string) => void,
): void {
  switch (name) {
    case "secret":
    case "configMap":
      needs(faults, path, source, "name");
      checkKeys(faults, path, source);
      for (const item of itemsAt(source, "items")) claim(textAt(item, "path"));
      break;
    case "downwardAPI":
      for (const item of itemsAt(source, "items")) {
        checkDownward(faults, path, item);
        claim(textAt(item, "path"));
      }
      break;
    case "serviceAccountToken": {
      const seconds = numberAt(source, "expirationSeconds") ?? 0;
      if (seconds < 600) {
        faults.invalid(
          `${path}.expirationSeconds`,
          seconds,
          "may not specify a duration less than 10 minutes",
        );
      }
      if (seconds > 2 ** 32) {
        faults.invalid(
          `${path}.expirationSeconds`,
          seconds,
          "may not specify a duration larger than 2^32 seconds",
        );
      }
      // The real server names the volume here, not the source.
      if (textAt(source, "path") === "") faults.required(`${at}.path`);
      else checkDescendingPath(faults, `${at}.path`, textAt(source, "path"));
      claim(textAt(source, "path"));
      break;
    }
    default:
      if (textAt(source, "path") === "" && name === "clusterTrustBundle") faults.required(`${path}.path`);
  }
}
