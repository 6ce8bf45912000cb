import { appendFile } from "node:fs/promises";
import { CommandError, type Terminal } from "@windlass/cli";
import type { AllocationAnswer } from "./allocation-files.ts";

/**
 * Hands an allocation to the next steps of a GitHub job: docker/setup-buildx-action reads the
 * variables, and takes the output `endpoint` with `driver: remote`.
 *
 * @throws CommandError outside of a GitHub job.
 */
export async function writeGithubFiles(
  { caCert, clientCert, clientKey, token, workerName }: AllocationAnswer,
  address: string,
  { env, stdout }: Terminal,
): Promise<void> {
  const { GITHUB_ENV: variables, GITHUB_OUTPUT: outputs } = env;
  if (!variables || !outputs)
    throw new CommandError(
      "--github: GITHUB_ENV and GITHUB_OUTPUT must be set, as in a job of GitHub Actions",
      {
        exitCode: 2,
      },
    );
  const key = pem(clientKey);
  // Not in logs, whatever a later step prints.
  for (const secret of [token, ...key.split("\n")])
    if (secret !== "" && !secret.startsWith("-----")) stdout.write(`::add-mask::${secret}\n`);
  await appendFile(
    variables,
    [
      assigned("BUILDER_NODE_0_AUTH_TLS_CACERT", pem(caCert)),
      assigned("BUILDER_NODE_0_AUTH_TLS_CERT", pem(clientCert)),
      assigned("BUILDER_NODE_0_AUTH_TLS_KEY", key),
      assigned("BKCTL_ALLOCATION_TOKEN", token),
    ].join(""),
  );
  await appendFile(outputs, `endpoint=${address}\nworker=${workerName}\n`);
}

function pem(encoded: string): string {
  return Buffer.from(encoded, "base64").toString("utf8");
}

/** In the form for values of several lines. The end is one that no value has. */
function assigned(name: string, value: string): string {
  const end = `end-${crypto.randomUUID()}`;
  return `${name}<<${end}\n${value.trimEnd()}\n${end}\n`;
}
