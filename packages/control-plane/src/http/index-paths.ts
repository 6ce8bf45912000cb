import type { KindTable } from "../kinds/index.ts";
import { healthChecks } from "./health.ts";

const fixed = [
  "/.well-known/openid-configuration",
  "/api",
  "/apis",
  "/apis/",
  "/metrics",
  "/metrics/slis",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/",
  "/openid/v1/jwks",
  "/version",
];

/** The paths that `/` lists: everything but single resources. */
export function indexPaths(kinds: KindTable): string[] {
  const groups = kinds.groups().flatMap(({ name, versions }) => {
    const root = name === "" ? "/api" : `/apis/${name}`;
    return [...(name === "" ? [] : [root]), ...versions.map((version) => `${root}/${version}`)];
  });
  const health = ["healthz", "livez", "readyz"].flatMap((endpoint) => [
    `/${endpoint}`,
    ...healthChecks(endpoint).map((check) => `/${endpoint}/${check}`),
  ]);
  return [...fixed, ...groups, ...health].sort((a, b) => (a < b ? -1 : 1));
}
