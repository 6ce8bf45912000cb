import { audience, type FakeIssuer, jwt, macOf, newKey, signedBy } from "./issuer.fixture.ts";

/**
 * Tokens that must be refused, by what is wrong with them. The provider requires
 * `repository: acme/shop` and names users by `actor`.
 */
export function forgedTokens(issuer: FakeIssuer): readonly (readonly [string, string])[] {
  const [rsa, ec] = issuer.keys;
  if (!rsa || !ec) throw new Error("the issuer has two keys");
  const attacker = newKey(rsa.kid);
  const attackerEc = newKey(ec.kid, "ES256");
  const now = Math.floor(Date.now() / 1_000);
  const good = issuer.token();
  const [head = "", body = "", signature = ""] = good.split(".");
  const claims = issuer.claims();
  const spki = rsa.publicKey.export({ type: "spki", format: "pem" });
  const unsigned = (alg: string) => jwt({ alg, kid: rsa.kid }, claims, () => Buffer.alloc(0));
  const mac = (alg: string, secret: string | Buffer, hash?: string) =>
    jwt({ alg, kid: rsa.kid, typ: "JWT" }, claims, macOf(secret, hash));
  const attackerJwk = attacker.publicKey.export({ format: "jwk" });
  const signed = signedBy(attacker);
  const flipped = Buffer.from(signature, "base64url");
  flipped.writeUInt8(flipped.readUInt8(7) ^ 1, 7);
  const payload = (change: object) =>
    Buffer.from(JSON.stringify({ ...claims, ...change })).toString("base64url");
  return [
    ["a word", "letmein"],
    ["two parts", `${head}.${body}`],
    ["four parts", `${good}.${signature}`],
    ["five parts, as an encrypted token has", `${good}.${signature}.${signature}`],
    ["a header that is no JSON", `${Buffer.from("{").toString("base64url")}.${body}.${signature}`],
    ["a payload that is no JSON", `${head}.${Buffer.from("{").toString("base64url")}.${signature}`],
    ["a payload that is a list", `${head}.${Buffer.from("[]").toString("base64url")}.${signature}`],
    ["alg none", unsigned("none")],
    ["alg None", unsigned("None")],
    ["alg NONE with a signature", jwt({ alg: "NONE", kid: rsa.kid }, claims, signedBy(rsa))],
    ["no alg", jwt({ kid: rsa.kid }, claims, signedBy(rsa))],
    ["HS256 with the public key as PEM", mac("HS256", spki)],
    [
      "HS256 with the public key as PKCS#1",
      mac("HS256", rsa.publicKey.export({ type: "pkcs1", format: "pem" })),
    ],
    ["HS256 with the public key as DER", mac("HS256", rsa.publicKey.export({ type: "spki", format: "der" }))],
    ["HS256 with the key set's entry", mac("HS256", JSON.stringify(rsa.publicKey.export({ format: "jwk" })))],
    ["HS256 with the modulus", mac("HS256", String(rsa.publicKey.export({ format: "jwk" }).n))],
    ["HS256 with no secret", mac("HS256", "")],
    ["HS512 with the public key as PEM", mac("HS512", spki, "sha512")],
    ["the header of PS256 on an RS256 signature", jwt({ alg: "PS256", kid: rsa.kid }, claims, signedBy(rsa))],
    ["RS256 with the id of an EC key", jwt({ alg: "RS256", kid: ec.kid }, claims, signedBy(rsa))],
    ["ES256 with the id of an RSA key", jwt({ alg: "ES256", kid: rsa.kid }, claims, signedBy(ec))],
    ["ES256 with a signature of zeros", jwt({ alg: "ES256", kid: ec.kid }, claims, () => Buffer.alloc(64))],
    ["RS256 with a signature of zeros", jwt({ alg: "RS256", kid: rsa.kid }, claims, () => Buffer.alloc(256))],
    ["another's RSA key under the issuer's key id", issuer.token({}, attacker)],
    ["another's EC key under the issuer's key id", issuer.token({}, attackerEc)],
    ["an unknown key id", issuer.token({}, attacker, { kid: "unknown" })],
    ["a key id that is a path", issuer.token({}, attacker, { kid: "../../dev/null" })],
    ["no key id", jwt({ alg: "RS256" }, claims, signed)],
    ["a key in the header", jwt({ alg: "RS256", kid: "mine", jwk: attackerJwk }, claims, signed)],
    [
      "a key in the header under the issuer's id",
      jwt({ alg: "RS256", kid: rsa.kid, jwk: attackerJwk }, claims, signed),
    ],
    [
      "a jku in the header",
      jwt({ alg: "RS256", kid: "mine", jku: "https://localhost/keys" }, claims, signed),
    ],
    ["an x5u in the header", jwt({ alg: "RS256", kid: "mine", x5u: "https://localhost/c" }, claims, signed)],
    ["an x5c in the header", jwt({ alg: "RS256", kid: rsa.kid, x5c: ["AAAA"] }, claims, signed)],
    ["an extension that must be understood", issuer.token({}, rsa, { crit: ["exp2"], exp2: 1 })],
    ["a payload that is not encoded", issuer.token({}, rsa, { crit: ["b64"], b64: false })],
    ["an altered user", `${head}.${payload({ actor: "root" })}.${signature}`],
    ["an altered lifetime", `${head}.${payload({ exp: now + 86_400 })}.${signature}`],
    ["another token's signature", `${head}.${body}.${issuer.token({ actor: "x" }).split(".")[2]}`],
    ["a signature with one bit changed", `${head}.${body}.${flipped.toString("base64url")}`],
    ["half a signature", `${head}.${body}.${signature.slice(0, signature.length / 2)}`],
    ["no signature", `${head}.${body}.`],
    [
      "the signature of an EC key in DER",
      jwt({ alg: "ES256", kid: ec.kid }, claims, () => Buffer.from(signature, "base64url").subarray(0, 70)),
    ],
    ["a lifetime that is over", issuer.token({ iat: now - 600, nbf: now - 600, exp: now - 120 })],
    ["a lifetime that was over in 1970", issuer.token({ exp: 1 })],
    ["a lifetime that has not begun", issuer.token({ nbf: now + 600 })],
    ["a time of issue in the future", issuer.token({ iat: now + 600 })],
    ["no lifetime", issuer.token({ exp: undefined })],
    ["a lifetime in words", issuer.token({ exp: "tomorrow" })],
    ["no subject", issuer.token({ sub: undefined })],
    ["another audience", issuer.token({ aud: "sts.amazonaws.com" })],
    ["no audience", issuer.token({ aud: undefined })],
    ["no audience in the list", issuer.token({ aud: [] })],
    ["other audiences", issuer.token({ aud: ["a", "b"] })],
    ["an audience that begins like ours", issuer.token({ aud: `${audience}-evil` })],
    ["an audience in capitals", issuer.token({ aud: audience.toUpperCase() })],
    ["an audience inside an object", issuer.token({ aud: { value: audience } })],
    ["no issuer", issuer.token({ iss: undefined })],
    ["an issuer that is not configured", issuer.token({ iss: "https://evil.example.com" })],
    ["the issuer with a slash", issuer.token({ iss: `${issuer.url}/` })],
    ["the issuer in a list", issuer.token({ iss: [issuer.url] })],
    ["the API server as issuer", issuer.token({ iss: "https://kubernetes.default.svc" })],
    ["a claim that is required, with another value", issuer.token({ repository: "evil/shop" })],
    ["a claim that is required, missing", issuer.token({ repository: undefined })],
    ["no user", issuer.token({ actor: undefined })],
    ["an empty user", issuer.token({ actor: "" })],
    ["two users", issuer.token({ actor: ["octocat", "root"] })],
    ["a user with a line break", issuer.token({ actor: "octocat\nroot" })],
    [
      "a user that only Kubernetes may name",
      issuer.token({ actor: "system:serviceaccount:kube-system:admin" }),
    ],
    [
      "what the original took for a service account",
      jwt(
        { alg: "RS256", typ: "JWT" },
        { iss: "x", sub: "system:serviceaccount:kube-system:admin", aud: "x" },
        () => Buffer.from("signature"),
      ),
    ],
  ];
}
