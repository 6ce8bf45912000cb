import type { Certificates } from "./certificates.ts";
import type { FromFilesOptions } from "./file-keeper.ts";

/** Where controller-runtime looks for certificates, and so where manifests mount them. */
const usualDirectory = "/tmp/k8s-webhook-server/serving-certs";

/**
 * Certificates from a directory, as cert-manager's Secrets are mounted. Read again when a file
 * changes, and every ten seconds besides; connections that are there stay. A pair that does not
 * belong together, cannot be read or has expired is not taken: the one before stays in use, and the
 * log reports it once.
 *
 * Who is to trust them is cert-manager's to say (`cert-manager.io/inject-ca-from`), unless the
 * server installs its own configurations: then `ca.crt` is put in.
 *
 * @param directory @default /tmp/k8s-webhook-server/serving-certs
 */
export function fromFiles(directory: string = usualDirectory, options: FromFilesOptions = {}): Certificates {
  return {
    secretFor: () => undefined,
    keep: async (dependencies) => {
      // Cryptography is loaded only by those who use it.
      const { FileKeeper } = await import("./file-keeper.ts");
      const keeper = new FileKeeper(dependencies, directory, options);
      await keeper.start();
      return keeper;
    },
  };
}
