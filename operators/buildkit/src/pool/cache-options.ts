import type { Pool } from "./pool.ts";

/**
 * What clients give buildctl as --import-cache and --export-cache, or buildx as --cache-from and
 * --cache-to.
 */
export function cacheOptions({ cache }: Pool["spec"]) {
  const backends = cache.backends.flatMap(({ registry, s3 }) => {
    if (registry) {
      const { endpoint, mode, compression, insecure } = registry;
      const plain = insecure ? ["registry.insecure=true"] : [];
      return [
        {
          import: ["type=registry", `ref=${endpoint}`, ...plain],
          export: [
            "type=registry",
            `ref=${endpoint}`,
            `mode=${mode}`,
            `compression=${compression}`,
            ...plain,
          ],
        },
      ];
    }
    if (!s3) return [];
    const { bucket, region, endpoint, prefix } = s3;
    const where = [
      "type=s3",
      `bucket=${bucket}`,
      `region=${region}`,
      ...(endpoint === undefined ? [] : [`endpoint_url=${endpoint}`, "use_path_style=true"]),
      ...(prefix === undefined ? [] : [`prefix=${prefix}`]),
    ];
    return [{ import: where, export: [...where, "mode=max"] }];
  });
  return {
    import: backends.map((one) => one.import.join(",")),
    export: backends.map((one) => one.export.join(",")),
  };
}
