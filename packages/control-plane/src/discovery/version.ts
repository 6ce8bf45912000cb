import type { JsonObject } from "../json.ts";
import { kubernetesVersion } from "../kinds/index.ts";

/**
 * `/version`. The numbers are those of the Kubernetes version whose behaviour is followed, as
 * clients decide by them; the build suffix shows that it is not Kubernetes itself.
 */
export function versionInfo(): JsonObject {
  const { gitVersion, major, minor, minCompatibilityMajor, minCompatibilityMinor } = kubernetesVersion();
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor,
    minCompatibilityMinor,
    gitVersion: `${gitVersion}+windlass`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "windlass",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
