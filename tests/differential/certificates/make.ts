import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A certificate with its key, as files that openssl goes on with. */
export interface IssuedCertificate {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** As openssl writes it. @default a common name and an organization */
  readonly subject?: string;
  /** Lines of openssl's configuration, such as `extendedKeyUsage=clientAuth`. */
  readonly extensions?: readonly string[];
  /** @default itself */
  readonly by?: IssuedCertificate;
  /** Arguments that make its key. @default EC P-256 */
  readonly algorithm?: readonly string[];
  /** @default sha256 */
  readonly digest?: string;
  /** X.509 version 1, which has no extensions. */
  readonly isVersion1?: boolean;
  /** The key of another certificate, whose successor this is. */
  readonly keyOf?: IssuedCertificate;
}

export const authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"];
export const forClients = ["extendedKeyUsage=clientAuth"];

const p256 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];

/** Makes certificates that no sane authority would: by openssl, in a folder. */
export class CertificateMaker {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  make(name: string, wish: CertificateOptions = {}): IssuedCertificate {
    const file = (ending: string) => join(this.#folder, `${name}.${ending}`);
    if (existsSync(file("crt"))) throw new Error(`there is a certificate ${name} already`);
    if (wish.keyOf) writeFileSync(file("key"), wish.keyOf.key);
    else openssl("genpkey", ...(wish.algorithm ?? p256), "-out", file("key"));
    openssl(
      "req",
      "-new",
      "-key",
      file("key"),
      "-subj",
      wish.subject ?? `/O=devs/CN=${name}`,
      "-out",
      file("csr"),
    );
    writeFileSync(file("ext"), (wish.extensions ?? []).join("\n"));
    const signer = wish.by
      ? ["-CA", this.#file(wish.by, "crt"), "-CAkey", this.#file(wish.by, "key")]
      : ["-signkey", file("key")];
    openssl(
      "x509",
      "-req",
      "-in",
      file("csr"),
      ...signer,
      `-${wish.digest ?? "sha256"}`,
      ...(wish.isVersion1 ? [] : ["-extfile", file("ext")]),
      "-days",
      "1",
      "-out",
      file("crt"),
    );
    return { name, certificate: readFileSync(file("crt"), "utf8"), key: readFileSync(file("key"), "utf8") };
  }

  /** Takes a certificate that was made elsewhere, to sign others. */
  adopt(name: string, { certificate, key }: Omit<IssuedCertificate, "name">): IssuedCertificate {
    const made = { name, certificate, key };
    writeFileSync(this.#file(made, "crt"), certificate);
    writeFileSync(this.#file(made, "key"), key);
    return made;
  }

  #file({ name }: IssuedCertificate, ending: string): string {
    return join(this.#folder, `${name}.${ending}`);
  }
}

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
