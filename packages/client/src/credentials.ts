import type { Clock } from "@windlass/clock";
import type { Credential, Credentials } from "./credential.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import type { ClusterAccess } from "./kubeconfig/access.ts";
import { RotatingFile } from "./network/file.ts";

/**
 * The credentials that a user's kubeconfig entry (or the pod's service account) describes, client
 * certificates apart.
 */
export function credentialsFor(access: ClusterAccess, clock: Clock): Credentials {
  const { exec, tokenFile, token, username, password } = access.user;
  if (tokenFile) return new TokenFile(tokenFile, clock);
  if (token) return fixed({ authorization: `Bearer ${token}` });
  if (username !== undefined || password !== undefined) {
    const pair = Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64");
    return fixed({ authorization: `Basic ${pair}` });
  }
  if (exec) return new ExecPlugin(exec, access, clock);
  return fixed({});
}

function fixed(credential: Credential): Credentials {
  return {
    current: () => credential,
    invalidate() {
      // There is nothing else to try: the server's 401 goes to the caller.
    },
  };
}

/** A bearer token in a file that is replaced before the token expires. */
class TokenFile implements Credentials {
  readonly #file: RotatingFile;
  #content: Buffer | undefined;
  #credential: Credential = {};

  constructor(path: string, clock: Clock) {
    this.#file = new RotatingFile(path, clock);
  }

  current(): Credential | Promise<Credential> {
    const content = this.#file.read();
    return content instanceof Promise
      ? content.then((read) => this.#credentialOf(read))
      : this.#credentialOf(content);
  }

  invalidate(): void {
    this.#file.invalidate();
  }

  #credentialOf(content: Buffer): Credential {
    if (content !== this.#content) {
      this.#content = content;
      this.#credential = { authorization: `Bearer ${content.toString("utf8").trim()}` };
    }
    return this.#credential;
  }
}
