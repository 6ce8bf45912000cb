export {
  type AggregatedDiscovery,
  AggregatedDiscoveryDocuments,
  aggregatedMediaType,
  type DiscoveryRoot,
  discoveryForm,
} from "./aggregated.ts";
export { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./legacy.ts";
export { versionInfo } from "./version.ts";
