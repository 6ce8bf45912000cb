import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type Authority, createAuthority } from "@windlass/certificates";

export const audience = "buildkit-controller";

/** A key of an issuer. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: "RS256" | "ES256";
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function newKey(kid: string, alg: IssuerKey["alg"] = "RS256"): IssuerKey {
  const pair =
    alg === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid, alg, ...pair };
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token with any header and payload, signed as said. */
export function jwt(header: object, payload: object, signer: (input: Buffer) => Buffer): string {
  const input = `${part(header)}.${part(payload)}`;
  return `${input}.${signer(Buffer.from(input)).toString("base64url")}`;
}

export const signedBy =
  ({ alg, privateKey }: IssuerKey) =>
  (input: Buffer) =>
    alg === "RS256"
      ? sign("sha256", input, privateKey)
      : sign("sha256", input, { key: privateKey, dsaEncoding: "ieee-p1363" });

export const macOf =
  (secret: string | Buffer, hash = "sha256") =>
  (input: Buffer) =>
    createHmac(hash, secret).update(input).digest();

/** An OpenID Connect issuer on loopback, with TLS. */
export class FakeIssuer implements AsyncDisposable {
  readonly authority: Authority = createAuthority({ commonName: "issuers", validFor: 3_600_000 });
  keys: IssuerKey[] = [newKey("first"), newKey("second", "ES256")];
  /** What else the key set lists. */
  readonly extraKeys: object[] = [];
  isDown = false;
  /** What the discovery document says, in place of the truth. */
  discovery: Record<string, unknown> = {};
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #server: Server;
  #port = 0;

  constructor() {
    const { certificate, key } = this.authority.issue({
      commonName: "localhost",
      dnsNames: ["localhost"],
      ipAddresses: ["127.0.0.1"],
      usages: ["server"],
      validFor: 3_600_000,
    });
    this.#server = createServer({ cert: certificate, key }, (request, response) => {
      this.asked.push(request.url ?? "");
      if (this.isDown) {
        response.writeHead(503).end();
        return;
      }
      const document = request.url === "/keys" ? this.#keySet() : this.#discovery();
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
    });
  }

  static async start(): Promise<FakeIssuer> {
    const issuer = new FakeIssuer();
    issuer.#server.listen(0, "127.0.0.1");
    await once(issuer.#server, "listening");
    issuer.#port = (issuer.#server.address() as AddressInfo).port;
    return issuer;
  }

  get url(): string {
    return `https://localhost:${this.#port}`;
  }

  get key(): IssuerKey {
    const [key] = this.keys;
    if (!key) throw new Error("the issuer has no key");
    return key;
  }

  claims(change: Record<string, unknown> = {}): Record<string, unknown> {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.url,
      aud: audience,
      sub: "repo:acme/shop:ref:refs/heads/main",
      actor: "octocat",
      repository: "acme/shop",
      ref: "refs/heads/main",
      iat: now,
      nbf: now,
      exp: now + 300,
      ...change,
    };
  }

  /**
   * A genuine token, except for what is changed. A claim that is changed to undefined is left out.
   */
  token(change: Record<string, unknown> = {}, key: IssuerKey = this.key, header: object = {}): string {
    return jwt({ alg: key.alg, kid: key.kid, typ: "JWT", ...header }, this.claims(change), signedBy(key));
  }

  #keySet() {
    const keys = this.keys.map(({ kid, alg, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      kid,
      alg,
      use: "sig",
    }));
    return { keys: [...keys, ...this.extraKeys] };
  }

  #discovery() {
    return { issuer: this.url, jwks_uri: `${this.url}/keys`, ...this.discovery };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
