import { readFile } from "node:fs/promises";
import { CommandError, type Terminal } from "@windlass/cli";
import { buildkitExitCodes } from "./exit-codes.ts";
import { fetchJson } from "./fetch-json.ts";

/** Where a token comes from, for messages. */
export interface TokenSource {
  readonly describe: string;
  /** A token that holds at this moment. */
  token(signal: AbortSignal): Promise<string>;
}

/** What the command line says of tokens. */
export interface TokenOptions {
  readonly token?: string | undefined;
  readonly "token-file"?: string | undefined;
  readonly audience?: string | undefined;
}

/** Where a pod is given a token with an audience of its own: a projected volume. */
const mountedToken = "/var/run/secrets/buildkit/token";
const defaultAudience = "buildkit-controller";
/** GitHub's tokens hold for five minutes. */
const githubFreshMs = 3 * 60_000;

/**
 * The first of: `--token`, `--token-file`, BKCTL_TOKEN, GitHub's and GitLab's ID tokens, a mounted
 * ServiceAccount token.
 *
 * @throws CommandError that says how to get one.
 */
export async function tokenSource(
  { env }: Pick<Terminal, "env">,
  options: TokenOptions,
): Promise<TokenSource> {
  const { token, audience = defaultAudience } = options;
  if (token !== undefined) return fixed("--token", token);
  if (options["token-file"] !== undefined) return fromFile("--token-file", options["token-file"]);
  for (const name of ["BKCTL_TOKEN", "BUILDKIT_ID_TOKEN"]) {
    const value = env[name];
    if (value) return fixed(name, value);
  }
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env;
  if (url && secret) return fromGitHub(url, secret, audience);
  if (env.GITHUB_ACTIONS === "true")
    throw new CommandError(
      "this GitHub job may not have an ID token: give it `permissions: { id-token: write }`",
      {
        exitCode: buildkitExitCodes.refused,
      },
    );
  const file = env.BUILDKIT_TOKEN_FILE ?? mountedToken;
  const isThere = await readFile(file, "utf8").then(
    () => true,
    () => false,
  );
  if (isThere) return fromFile("ServiceAccount token", file);
  throw new CommandError(
    "there is no token to say who you are: set BKCTL_TOKEN, give --token-file, or run in a job with an ID token (GitHub: `permissions: { id-token: write }`; GitLab: `id_tokens: { BUILDKIT_ID_TOKEN: { aud: buildkit-controller } }`)",
    { exitCode: buildkitExitCodes.refused },
  );
}

function fixed(describe: string, token: string): TokenSource {
  return { describe, token: async () => token.trim() };
}

/** Read each time: the kubelet replaces it before it expires. */
function fromFile(describe: string, path: string): TokenSource {
  return { describe: `${describe} (${path})`, token: async () => (await readFile(path, "utf8")).trim() };
}

function fromGitHub(url: string, secret: string, audience: string): TokenSource {
  let known: { readonly token: string; readonly at: number } | undefined;
  return {
    describe: "GitHub Actions",
    token: async (signal) => {
      if (known && Date.now() - known.at < githubFreshMs) return known.token;
      const asked = new URL(url);
      asked.searchParams.set("audience", audience);
      const body = await fetchJson(asked, { authorization: `Bearer ${secret}` }, signal);
      const value = typeof body === "object" && body !== null && "value" in body ? body.value : undefined;
      if (typeof value !== "string") throw new CommandError("GitHub did not answer with an ID token");
      known = { token: value, at: Date.now() };
      return value;
    },
  };
}
