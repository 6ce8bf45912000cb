import { type Json, type JsonObject, textOf } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import type { Faults } from "../../validation/faults.ts";
import { headerName, portName, portNumber } from "../../validation/names.ts";

export function checkProbes(faults: Faults, at: string, container: JsonObject, grace: number): void {
  const liveness = `${at}.livenessProbe`;
  if (hasAt(container, "livenessProbe")) {
    const probe = objectAt(container, "livenessProbe");
    checkProbe(faults, liveness, probe, grace);
    succeedsAtOnce(faults, liveness, probe);
  }
  if (hasAt(container, "readinessProbe")) {
    const probe = objectAt(container, "readinessProbe");
    checkProbe(faults, `${at}.readinessProbe`, probe, grace);
    if (hasAt(probe, "terminationGracePeriodSeconds")) {
      faults.invalid(
        `${at}.readinessProbe.terminationGracePeriodSeconds`,
        probe.terminationGracePeriodSeconds,
        "must not be set for readinessProbes",
      );
    }
  }
  if (hasAt(container, "startupProbe")) {
    const probe = objectAt(container, "startupProbe");
    checkProbe(faults, `${at}.startupProbe`, probe, grace);
    succeedsAtOnce(faults, `${at}.startupProbe`, probe);
  }
}

function succeedsAtOnce(faults: Faults, at: string, probe: JsonObject): void {
  const threshold = numberAt(probe, "successThreshold") ?? 0;
  if (threshold !== 1) faults.invalid(`${at}.successThreshold`, threshold, "must be 1");
}

function checkProbe(faults: Faults, at: string, probe: JsonObject, grace: number): void {
  checkHandler(faults, at, probe, ["exec", "httpGet", "tcpSocket", "grpc"], grace);
  for (const part of [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ]) {
    faults.atLeast(`${at}.${part}`, field(probe, part));
  }
  const deadline = numberAt(probe, "terminationGracePeriodSeconds");
  if (deadline !== undefined && deadline <= 0) {
    faults.invalid(`${at}.terminationGracePeriodSeconds`, deadline, "must be greater than 0");
  }
}

export function checkLifecycle(faults: Faults, at: string, container: JsonObject, grace: number): void {
  const lifecycle = objectAt(container, "lifecycle");
  for (const hook of ["postStart", "preStop"]) {
    if (!hasAt(lifecycle, hook)) continue;
    checkHandler(
      faults,
      `${at}.${hook}`,
      objectAt(lifecycle, hook),
      ["exec", "httpGet", "tcpSocket", "sleep"],
      grace,
    );
  }
}

function checkHandler(
  faults: Faults,
  at: string,
  handler: JsonObject,
  types: readonly string[],
  grace: number,
): void {
  let used = 0;
  for (const type of types) {
    if (!hasAt(handler, type)) continue;
    if (used > 0) {
      faults.forbidden(`${at}.${type}`, "may not specify more than 1 handler type");
      continue;
    }
    used++;
    checkAction(faults, `${at}.${type}`, type, objectAt(handler, type), grace);
  }
  if (used === 0) faults.required(at, "must specify a handler type");
}

function checkAction(faults: Faults, at: string, type: string, action: JsonObject, grace: number): void {
  switch (type) {
    case "exec":
      if (textsAt(action, "command").length === 0) faults.required(`${at}.command`);
      break;
    case "httpGet":
      if (textAt(action, "path") === "") faults.required(`${at}.path`);
      checkPort(faults, `${at}.port`, field(action, "port"));
      faults.oneOf(`${at}.scheme`, textAt(action, "scheme"), ["HTTP", "HTTPS"]);
      for (const header of itemsAt(action, "httpHeaders")) {
        const name = textAt(header, "name");
        faults.each(`${at}.httpHeaders`, name, headerName(name));
      }
      break;
    case "tcpSocket":
      checkPort(faults, `${at}.port`, field(action, "port"));
      break;
    case "grpc": {
      const port = numberAt(action, "port") ?? 0;
      faults.each(`${at}.port`, port, portNumber(port));
      break;
    }
    default: {
      const seconds = numberAt(action, "seconds") ?? 0;
      if (seconds < 0 || seconds > grace) {
        faults.invalid(
          at,
          seconds,
          `must be non-negative and less than terminationGracePeriodSeconds (${grace})`,
        );
      }
    }
  }
}

/** A port by number or by name. */
export function checkPort(faults: Faults, at: string, port: Json | undefined): void {
  if (typeof port === "string") faults.each(at, port, portName(port));
  else faults.each(at, port ?? 0, portNumber(Number(textOf(port ?? 0))));
}
