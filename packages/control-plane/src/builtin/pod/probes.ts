import { type Json, type JsonObject, textOf } from "../../json.ts";
import type { Faults } from "../../validation/faults.ts";
import { child, has, items, number, own, text, texts } from "../../validation/fields.ts";
import { headerName, portName, portNumber } from "../../validation/names.ts";

export function checkProbes(faults: Faults, at: string, container: JsonObject, grace: number): void {
  const liveness = `${at}.livenessProbe`;
  if (has(container, "livenessProbe")) {
    const probe = child(container, "livenessProbe");
    checkProbe(faults, liveness, probe, grace);
    succeedsAtOnce(faults, liveness, probe);
  }
  if (has(container, "readinessProbe")) {
    const probe = child(container, "readinessProbe");
    checkProbe(faults, `${at}.readinessProbe`, probe, grace);
    if (has(probe, "terminationGracePeriodSeconds")) {
      faults.invalid(
        `${at}.readinessProbe.terminationGracePeriodSeconds`,
        probe.terminationGracePeriodSeconds,
        "must not be set for readinessProbes",
      );
    }
  }
  if (has(container, "startupProbe")) {
    const probe = child(container, "startupProbe");
    checkProbe(faults, `${at}.startupProbe`, probe, grace);
    succeedsAtOnce(faults, `${at}.startupProbe`, probe);
  }
}

function succeedsAtOnce(faults: Faults, at: string, probe: JsonObject): void {
  const threshold = number(probe, "successThreshold") ?? 0;
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
    faults.atLeast(`${at}.${part}`, own(probe, part));
  }
  const deadline = number(probe, "terminationGracePeriodSeconds");
  if (deadline !== undefined && deadline <= 0) {
    faults.invalid(`${at}.terminationGracePeriodSeconds`, deadline, "must be greater than 0");
  }
}

export function checkLifecycle(faults: Faults, at: string, container: JsonObject, grace: number): void {
  const lifecycle = child(container, "lifecycle");
  for (const hook of ["postStart", "preStop"]) {
    if (!has(lifecycle, hook)) continue;
    checkHandler(
      faults,
      `${at}.${hook}`,
      child(lifecycle, hook),
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
    if (!has(handler, type)) continue;
    if (used > 0) {
      faults.forbidden(`${at}.${type}`, "may not specify more than 1 handler type");
      continue;
    }
    used++;
    checkAction(faults, `${at}.${type}`, type, child(handler, type), grace);
  }
  if (used === 0) faults.required(at, "must specify a handler type");
}

function checkAction(faults: Faults, at: string, type: string, action: JsonObject, grace: number): void {
  switch (type) {
    case "exec":
      if (texts(action, "command").length === 0) faults.required(`${at}.command`);
      break;
    case "httpGet":
      if (text(action, "path") === "") faults.required(`${at}.path`);
      checkPort(faults, `${at}.port`, own(action, "port"));
      faults.oneOf(`${at}.scheme`, text(action, "scheme"), ["HTTP", "HTTPS"]);
      for (const header of items(action, "httpHeaders")) {
        const name = text(header, "name");
        faults.each(`${at}.httpHeaders`, name, headerName(name));
      }
      break;
    case "tcpSocket":
      checkPort(faults, `${at}.port`, own(action, "port"));
      break;
    case "grpc": {
      const port = number(action, "port") ?? 0;
      faults.each(`${at}.port`, port, portNumber(port));
      break;
    }
    default: {
      const seconds = number(action, "seconds") ?? 0;
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
