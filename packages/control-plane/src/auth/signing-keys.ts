import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { JsonObject } from "../json.ts";

/** A public key, with how it signs and what it is called in tokens. */
export interface PublicKey {
  readonly key: KeyObject;
  readonly algorithm: string;
  readonly id: string;
}

/** What signs tokens and what their signatures are checked by. */
export interface SigningKeys {
  readonly private: KeyObject;
  /** The public half of the one that signs. */
  readonly own: PublicKey;
  readonly trusted: readonly PublicKey[];
}

const curves: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/** @throws TypeError for a key of a kind that signs no tokens */
export function signingKeys(init: {
  readonly key?: KeyObject;
  readonly publicKeys?: readonly KeyObject[];
}): SigningKeys {
  const key = init.key ?? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const own = described(createPublicKey(key));
  return { private: key, own, trusted: init.publicKeys?.map(described) ?? [own] };
}

/** The key as `/openid/v1/jwks` shows it. */
export function webKey({ key, algorithm, id }: PublicKey): JsonObject {
  const { kty = "", ...parts } = key.export({ format: "jwk" });
  return { use: "sig", kty, kid: id, alg: algorithm, ...(parts as JsonObject) };
}

function described(key: KeyObject): PublicKey {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? "";
  const algorithm = key.asymmetricKeyType === "rsa" ? "RS256" : curves[curve];
  if (algorithm === undefined) {
    throw new TypeError(
      `a key of type ${key.asymmetricKeyType} ${curve} signs no tokens: it must be RSA or EC`,
    );
  }
  const id = createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return { key, algorithm, id };
}
