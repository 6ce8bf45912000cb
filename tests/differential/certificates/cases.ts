import { createAuthority, loadAuthority } from "@windlass/certificates";
import {
  authority,
  CertificateMaker,
  type CertificateOptions,
  forClients,
  type IssuedCertificate,
} from "./make.ts";
import type { PresentedChain } from "./server.ts";

const day = 24 * 3_600_000;
const at = (days: number) => ({ now: () => Date.now() + days * day });

/** What clients show, and what a server trusts. */
export function cases(folder: string): {
  readonly roots: readonly string[];
  readonly shown: readonly PresentedChain[];
} {
  const maker = new CertificateMaker(folder);
  const roots: string[] = [];
  const shown: PresentedChain[] = [];
  const root = (name: string, wish: CertificateOptions) => {
    const made = maker.make(name, wish);
    roots.push(made.certificate);
    return made;
  };
  /** @param chain what is sent besides */
  const show = (name: string, wish: CertificateOptions, ...chain: IssuedCertificate[]) => {
    const made = maker.make(name.replaceAll(/\W+/g, "-"), { extensions: forClients, ...wish });
    const certificate = [made, ...chain].map((one) => one.certificate).join("");
    shown.push({ name, certificate, key: made.key });
    return made;
  };

  const ca = root("ca", { subject: "/CN=ca", extensions: authority });
  const good = show("for clients", { by: ca });
  shown.push({ ...good, name: "for clients, with a bad token", token: "nonsense" });

  // What they may be used for.
  show("for nothing in particular", { by: ca, extensions: [] });
  show("without extensions, version 1", { by: ca, isVersion1: true });
  const usages = {
    "for servers": "serverAuth",
    "for servers and clients": "serverAuth,clientAuth",
    "for anything": "anyExtendedKeyUsage",
    "for servers and anything": "serverAuth,anyExtendedKeyUsage",
    "for something unknown": "1.2.3.4",
    "for something unknown and clients": "1.2.3.4,clientAuth",
  };
  for (const [name, usage] of Object.entries(usages))
    show(name, { by: ca, extensions: [`extendedKeyUsage=${usage}`] });
  show("for clients, critical", { by: ca, extensions: ["extendedKeyUsage=critical,clientAuth"] });
  for (const usage of ["digitalSignature", "keyEncipherment", "keyCertSign"])
    show(`key for ${usage}`, { by: ca, extensions: [...forClients, `keyUsage=critical,${usage}`] });
  show("an authority itself", { by: ca, extensions: authority });
  show("something unknown that is critical", {
    by: ca,
    extensions: [...forClients, "1.2.3.4=critical,ASN1:UTF8String:x"],
  });
  show("something unknown", { by: ca, extensions: [...forClients, "1.2.3.4=ASN1:UTF8String:x"] });

  // Whom they name.
  const subjects = {
    nobody: "/O=devs",
    "nothing at all": "/",
    "two names": "/CN=one/CN=two",
    "several groups": "/O=a/O=b/O=a/CN=several",
    "no group": "/CN=alone",
    "a uid": "/CN=with-uid/1.3.6.1.4.1.57683.2=u-1",
    units: "/OU=unit/CN=units",
    "the anonymous user": "/CN=system:anonymous",
    "other letters": "/O=gruppe ä/CN=jürgen",
    "an empty group": "/O=/CN=empty",
    "a service account": "/CN=system:serviceaccount:default:default",
    "the authenticated group": "/O=system:authenticated/CN=already",
    "the unauthenticated group": "/O=system:unauthenticated/CN=already",
    "commas and equals": "/O=a,b=c/CN=x\\/y,z=1",
  };
  for (const [name, subject] of Object.entries(subjects)) show(`names ${name}`, { by: ca, subject });

  // Who signed them.
  show("by itself", {});
  const stranger = maker.make("stranger", { subject: "/CN=stranger", extensions: authority });
  show("by a stranger", { by: stranger });
  show("by a stranger that is sent", { by: stranger }, stranger);
  const namesake = maker.make("namesake", { subject: "/CN=ca", extensions: authority });
  show("by one of the same name", { by: namesake });
  const second = root("second", { subject: "/CN=twice", extensions: authority });
  const first = root("first", { subject: "/CN=twice", extensions: authority });
  show("by the first of two of one name", { by: first });
  show("by the second of two of one name", { by: second });
  const middle = maker.make("middle", { subject: "/CN=middle", extensions: authority, by: ca });
  show("by one in the middle that is not sent", { by: middle });
  show("by one in the middle", { by: middle }, middle);
  show("by one in the middle, and the root", { by: middle }, middle, ca);
  const lower = maker.make("lower", { subject: "/CN=lower", extensions: authority, by: middle });
  show("by two in the middle", { by: lower }, lower, middle);
  show("by two in the middle, in another order", { by: lower }, middle, lower);
  show("by two in the middle of which one is sent", { by: lower }, lower);
  const known = root("known-middle", { subject: "/CN=known-middle", extensions: authority, by: stranger });
  show("by one in the middle that is trusted itself", { by: known });
  const leaf = maker.make("leaf", { by: ca });
  show("by a leaf", { by: leaf }, leaf);
  const notOne = maker.make("not-one", { by: ca, extensions: ["basicConstraints=CA:FALSE"] });
  show("by a certificate that is not an authority", { by: notOne }, notOne);
  show("by a trusted certificate that is not an authority", {
    by: root("no-authority", { subject: "/CN=no-authority", extensions: ["basicConstraints=CA:FALSE"] }),
  });
  show("by a trusted one that says nothing", { by: root("bare", { subject: "/CN=bare", extensions: [] }) });
  show("by a trusted one of version 1", { by: root("v1", { subject: "/CN=v1", isVersion1: true }) });
  show("by a trusted one that may not sign", {
    by: root("mute", {
      subject: "/CN=mute",
      extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature"],
    }),
  });
  const short = root("short", {
    subject: "/CN=short",
    extensions: ["basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign"],
  });
  show("by a root that allows no authority below", { by: short });
  const below = maker.make("below", { subject: "/CN=below", extensions: authority, by: short });
  show("below a root that allows no authority below", { by: below }, below);
  const servers = maker.make("servers", {
    subject: "/CN=servers",
    by: ca,
    extensions: [...authority, "extendedKeyUsage=serverAuth"],
  });
  show("by one in the middle for servers", { by: servers }, servers);
  show("for nothing in particular, by one for servers", { by: servers, extensions: [] }, servers);
  const serversRoot = root("servers-root", {
    subject: "/CN=servers-root",
    extensions: [...authority, "extendedKeyUsage=serverAuth"],
  });
  show("by a root for servers", { by: serversRoot });
  const renewed = maker.make("renewed", { subject: "/CN=ca", extensions: authority, keyOf: ca });
  show("by a root that was renewed", { by: renewed });

  // Trusted themselves.
  const trusted = (name: string, wish: CertificateOptions) => roots.push(show(name, wish).certificate);
  trusted("trusted itself", { extensions: [] });
  trusted("trusted itself, for clients", {});
  trusted("trusted itself, for servers", { extensions: ["extendedKeyUsage=serverAuth"] });
  trusted("trusted itself, by a stranger", { by: stranger });
  trusted("a trusted authority", { extensions: authority });
  const issuing = maker.make("issuing-leaf", {
    subject: "/CN=issuing-leaf",
    extensions: ["basicConstraints=CA:FALSE"],
  });
  roots.push(issuing.certificate);
  show("by a trusted leaf", { by: issuing });

  // Keys and signatures.
  const keys = {
    "P-384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "P-521": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"],
    "RSA 2048": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "RSA 1024": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
  };
  for (const [name, algorithm] of Object.entries(keys)) show(`key ${name}`, { by: ca, algorithm });
  for (const digest of ["sha1", "sha384", "sha512"]) show(`signed with ${digest}`, { by: ca, digest });
  const rsa = root("rsa", { subject: "/CN=rsa", extensions: authority, algorithm: keys["RSA 2048"] });
  for (const digest of ["sha1", "sha256", "sha512"])
    show(`signed by RSA with ${digest}`, { by: rsa, digest });

  // Out of their time.
  const commonName = "out of time";
  const span = (from: number, until: number) => ({ notAfter: Date.now() + until * day, clock: at(from) });
  const old = createAuthority({ commonName: "old", ...span(-10, 10) });
  roots.push(old.certificate);
  const leafIn = (from: number, until: number) =>
    loadAuthority(old.certificate, old.key, { clock: at(from) }).issue({
      commonName,
      usages: ["client"],
      notAfter: Date.now() + until * day,
    });
  shown.push({ name: "within its time", ...leafIn(-1, 1) });
  shown.push({ name: "out of date", ...leafIn(-5, -1) });
  shown.push({ name: "not begun", ...leafIn(1, 5) });
  for (const [name, from, until] of [
    ["over", -10, -1],
    ["not-begun", 1, 10],
  ] as const) {
    const made = maker.adopt(name, createAuthority({ commonName: name, ...span(from, until) }));
    roots.push(made.certificate);
    show(`by a root that is ${name}`, { by: made });
  }
  return { roots, shown };
}
