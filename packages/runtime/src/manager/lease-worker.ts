/**
 * Where the code of the thread that renews the lease is: a file beside this one. In the published
 * package this module is replaced by one that contains the code: a bundler would leave the file
 * behind, and the operator would never lead.
 */
export function leaseThreadUrl(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./lease-thread.${extension}`, import.meta.url);
}
