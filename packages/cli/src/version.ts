import manifest from "../package.json" with { type: "json" };

/** The version of this package, and of all others of Windlass that fit it. */
export const version: string = manifest.version;
