import { append } from "../append.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { hasAt, metadataOf, objectAt, textAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { Faults, immutable } from "../validation/faults.ts";
import { ensure } from "../validation/fill.ts";
import { jsonFault } from "../validation/go-json-fault.ts";
import { dataKey } from "../validation/names.ts";
import { bytesOf, checkLocked } from "./config-map.ts";
import type { KindDeclaration } from "./declaration.ts";

const most = 1024 * 1024;

const secret: Strategy = {
  selectableFields: ["type"],
  setDefaults: (object) => {
    if (isObject(object.stringData)) {
      const data = ensure(object, "data");
      for (const [key, value] of Object.entries(object.stringData)) {
        data[key] = Buffer.from(value as string).toString("base64");
      }
      delete object.stringData;
      object.data = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    if (textAt(object, "type") === "") object.type = "Opaque";
  },
  prepareCreate: (object, { warn }) => warnOfCertificate(object, warn),
  prepareUpdate: (next, live) => {
    // A type left out means the one it has.
    if (textAt(next, "type") === "Opaque" && textAt(live, "type") === "") next.type = "";
  },
  validate: (object) => secretFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = new Faults();
    if (textAt(next, "type") !== textAt(live, "type"))
      faults.invalid("type", textAt(next, "type"), immutable);
    if (live.immutable === true) checkLocked(faults, next, live, ["data"]);
    append(faults.causes, secretFaults(next).causes);
    return faults.causes;
  },
};

function warnOfCertificate(object: JsonObject, warn: (text: string) => void): void {
  if (textAt(object, "type") !== "kubernetes.io/tls") return;
  const data = objectAt(object, "data");
  const certificate = Buffer.from(textAt(data, "tls.crt"), "base64").toString();
  if (!hasAt(data, "tls.crt") || !hasAt(data, "tls.key")) return;
  if (!certificate.includes("-----BEGIN ")) warn("tls: failed to find any PEM data in certificate input");
}

function secretFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const data = objectAt(object, "data");
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    faults.each(`data[${key}]`, key, dataKey(key));
    size += bytesOf(value as string);
  }
  if (size > most) faults.tooLong("data", most);
  switch (textAt(object, "type")) {
    case "kubernetes.io/service-account-token": {
      const name = "kubernetes.io/service-account.name";
      if (textAt(objectAt(metadataOf(object), "annotations"), name) === "") {
        faults.required(`metadata.annotations[${name}]`);
      }
      break;
    }
    case "kubernetes.io/dockercfg":
      checkJson(faults, data, ".dockercfg");
      break;
    case "kubernetes.io/dockerconfigjson":
      checkJson(faults, data, ".dockerconfigjson");
      break;
    case "kubernetes.io/basic-auth":
      if (!hasAt(data, "username") && !hasAt(data, "password")) {
        faults.required("data[username]");
        faults.required("data[password]");
      }
      break;
    case "kubernetes.io/ssh-auth":
      if (textAt(data, "ssh-privatekey") === "") faults.required("data[ssh-privatekey]");
      break;
    case "kubernetes.io/tls":
      for (const key of ["tls.crt", "tls.key"]) if (!hasAt(data, key)) faults.required(`data[${key}]`);
      break;
  }
  return faults;
}

function checkJson(faults: Faults, data: JsonObject, key: string): void {
  if (!hasAt(data, key)) {
    faults.required(`data[${key}]`);
    return;
  }
  const fault = jsonFault(Buffer.from(textAt(data, key), "base64").toString());
  if (fault !== undefined) faults.invalid(`data[${key}]`, "<secret contents redacted>", fault);
}

function secretCells(of: JsonObject, now: number): Json[] {
  return [name(of), textAt(of, "type"), Object.keys(objectAt(of, "data")).length, age(of, now)];
}

export const secretKind = {
  group: "",
  kind: "Secret",
  strategy: secret,
  cells: secretCells,
} satisfies KindDeclaration;
