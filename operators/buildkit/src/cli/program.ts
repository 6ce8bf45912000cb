import type { Program } from "@windlass/cli";
import {
  allocateCommand,
  listCommand,
  logsCommand,
  releaseCommand,
  renewCommand,
  statusCommand,
} from "./allocation-commands.ts";
import { buildCommand } from "./build-command.ts";
import { doctorCommand } from "./doctor-command.ts";

/** The windlass-buildkit command. */
export const windlassBuildkit: Program = {
  name: "windlass-buildkit",
  version: "0.1.0",
  description: `
Builds on workers of BuildKit pools. Begin with: windlass-buildkit doctor --pool NAME
Then: windlass-buildkit build --pool NAME -- ARGUMENTS of buildctl build`,
  commands: [
    buildCommand,
    allocateCommand,
    renewCommand,
    releaseCommand,
    statusCommand,
    listCommand,
    logsCommand,
    doctorCommand,
  ],
  environment: [
    ["BKCTL_ENDPOINT", "where the allocation API is"],
    ["BKCTL_TLS_CA_CERT", "a file with the authorities that sign its certificate"],
    ["BKCTL_POOL, BKCTL_NAMESPACE", "the pool"],
    ["BKCTL_ALLOCATION_TOKEN", "the allocation that renew and release are about; allocate --github sets it"],
    ["BKCTL_TOKEN", "a token that says who you are"],
    ["BUILDKIT_ID_TOKEN", "the same, as GitLab's id_tokens sets it"],
    ["BUILDKIT_TOKEN_FILE", "a file with a ServiceAccount's token; default /var/run/secrets/buildkit/token"],
  ],
  exitCodes: [
    ["3", "refused: who you are is not known, or you may not"],
    ["4", "not possible at present: the API cannot be reached, or no worker was free"],
    ["other", "of build: what buildctl or docker buildx ended with"],
  ],
};
