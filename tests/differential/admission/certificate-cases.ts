import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateMaker, type CertificateOptions } from "../certificates/make.ts";
import { authority, type HookCase, host, serving, withCertificate, withTls } from "./hard-to-reach.ts";

/** Certificates that only openssl makes. */
const folder = mkdtempSync(join(tmpdir(), "transport-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
const maker = new CertificateMaker(folder);
const forAddress = [`subjectAltName=IP:${host}`];
const caLines = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"];

/** A webhook with a certificate of its own, whose signer is trusted. */
function strange(name: string, leaf: CertificateOptions, by: CertificateOptions = {}): HookCase {
  const file = name.replaceAll(/\W+/g, "-");
  const signer = maker.make(`${file}-ca`, { extensions: caLines, ...by });
  const made = maker.make(file, { by: signer, extensions: forAddress, ...leaf });
  const { certificate: cert, key } = made;
  // Node refuses to show what is weak.
  return { name, serve: withTls({ cert, key, ciphers: "DEFAULT@SECLEVEL=0" }), trust: signer.certificate };
}

const rsa = (bits: number) => ["-algorithm", "RSA", "-pkeyopt", `rsa_keygen_bits:${bits}`];
const curve = (name: string) => ["-algorithm", "EC", "-pkeyopt", `ec_paramgen_curve:${name}`];
const root = maker.make("root", { extensions: caLines });
const between = maker.make("between", { by: root, extensions: caLines });
const below = maker.make("below", { by: between, extensions: forAddress });
const lone = maker.make("lone", { extensions: forAddress });
const servingOf = (...chain: readonly { readonly certificate: string }[]) =>
  withTls({ cert: chain.map(({ certificate }) => certificate).join(""), key: below.key });

/** Certificates and bundles that few authorities would make. */
export const certificateCases: readonly HookCase[] = [
  strange("RSA of 2048 bits", { algorithm: rsa(2048) }, { algorithm: rsa(2048) }),
  strange("RSA of 1024 bits", { algorithm: rsa(1024) }),
  strange("an authority of 1024 bits", {}, { algorithm: rsa(1024) }),
  strange("RSA of 512 bits", { algorithm: rsa(512) }),
  strange("P-384", { algorithm: curve("P-384") }),
  strange("P-224", { algorithm: curve("P-224") }),
  strange("secp256k1", { algorithm: curve("secp256k1") }),
  strange("Ed25519", { algorithm: ["-algorithm", "ED25519"] }),
  strange("signed with SHA-1", { digest: "sha1" }),
  strange("signed with SHA-1 and RSA", { digest: "sha1" }, { algorithm: rsa(2048) }),
  strange("signed with SHA-512", { digest: "sha512" }, { algorithm: rsa(2048) }),
  strange("version 1", { isVersion1: true }),
  strange("an authority without the right to sign", {}, { extensions: [] }),
  strange("an authority of version 1", {}, { isVersion1: true }),
  strange(
    "an authority that may not sign",
    {},
    {
      extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature"],
    },
  ),
  strange(
    "an authority for other addresses",
    {},
    {
      extensions: [...caLines, "nameConstraints=critical,permitted;IP:10.0.0.0/255.0.0.0"],
    },
  ),
  strange(
    "an authority for names",
    {},
    {
      extensions: [...caLines, "nameConstraints=critical,permitted;DNS:example.com"],
    },
  ),
  strange("an authority for clients", {}, { extensions: [...caLines, "extendedKeyUsage=clientAuth"] }),
  strange("for servers and clients", {
    extensions: [...forAddress, "extendedKeyUsage=clientAuth,serverAuth"],
  }),
  strange("for anything", { extensions: [...forAddress, "extendedKeyUsage=anyExtendedKeyUsage"] }),
  strange("for nothing known", { extensions: [...forAddress, "extendedKeyUsage=1.2.3.4"] }),
  strange("for signing code", { extensions: [...forAddress, "extendedKeyUsage=codeSigning"] }),
  strange("an authority itself", { extensions: [...forAddress, ...caLines] }),
  strange("a key for nothing but signing others", {
    extensions: [...forAddress, "keyUsage=critical,keyCertSign"],
  }),
  strange("something unknown that is critical", {
    extensions: [...forAddress, "1.2.3.4=critical,ASN1:UTF8String:x"],
  }),
  strange("a wildcard", { extensions: ["subjectAltName=DNS:*"] }),
  { ...strange("part of a wildcard", { extensions: ["subjectAltName=DNS:local*"] }), host: "localhost" },
  { ...strange("a name in capitals", { extensions: ["subjectAltName=DNS:LOCALHOST"] }), host: "localhost" },
  {
    ...strange("a name and an address", { extensions: ["subjectAltName=DNS:x.y,IP:127.0.0.2"] }),
    host: "localhost",
  },
  { ...strange("an address as a name", { extensions: [`subjectAltName=DNS:${host}`] }) },
  {
    ...strange("an address as a name, and another", {
      extensions: [`subjectAltName=DNS:${host},IP:127.0.0.9`],
    }),
  },
  { ...strange("a URI alone", { extensions: ["subjectAltName=URI:https://localhost"] }), host: "localhost" },
  { ...strange("a common name that is an address", { extensions: [], subject: `/CN=${host}` }) },
  { name: "the root is trusted, the chain sent", serve: servingOf(below, between), trust: root.certificate },
  { name: "the root is trusted and sent", serve: servingOf(below, between, root), trust: root.certificate },
  { name: "the root is trusted, the chain not sent", serve: servingOf(below), trust: root.certificate },
  { name: "the middle is trusted", serve: servingOf(below), trust: between.certificate },
  {
    name: "the middle is trusted, the chain sent",
    serve: servingOf(below, between),
    trust: between.certificate,
  },
  { name: "the middle and the root", serve: servingOf(below), trust: root.certificate + between.certificate },
  {
    name: "the leaf is trusted, with the chain sent",
    serve: servingOf(below, between),
    trust: below.certificate,
  },
  { name: "signed by itself and trusted", serve: withCertificate(lone), trust: lone.certificate },
  { name: "signed by itself", serve: withCertificate(lone) },
  { name: "signed by itself, without trust", serve: withCertificate(lone), trust: "" },
  { name: "a bundle that is no PEM", serve: withTls({}), trust: "nonsense" },
  { name: "a bundle with other text", serve: withTls({}), trust: `# ours\n${authority.certificate}\n# end` },
  {
    name: "a bundle with carriage returns",
    serve: withTls({}),
    trust: authority.certificate.replaceAll("\n", "\r\n"),
  },
  { name: "a bundle with a key", serve: withTls({}), trust: `${serving.key}\n${authority.certificate}` },
  { name: "a bundle that is a key", serve: withTls({}), trust: serving.key },
  {
    name: "a bundle with a damaged part",
    serve: withTls({}),
    trust: `${authority.certificate}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  },
  {
    name: "a bundle whose first part is damaged",
    serve: withTls({}),
    trust: `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${authority.certificate}`,
  },
  { name: "a bundle cut short", serve: withTls({}), trust: authority.certificate.slice(0, -30) },
];
