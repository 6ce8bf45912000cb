import type { ContainerInput, PodSpecInput } from "@windlass/runtime/kinds";
import type { Pool } from "../pool/pool.ts";

/** How a worker is kept apart from its node. */
export type Profile = Pool["spec"]["profile"];

/** What a profile makes of a pod. */
export interface ProfileFacts {
  /** The image, unless the pool names one. */
  readonly image: string;
  /** Where buildkitd keeps its state. */
  readonly stateFolder: string;
  /** Where its socket is, for probes in its own container. */
  readonly socket: string;
  readonly args: readonly string[];
  readonly container: Pick<ContainerInput, "securityContext">;
  readonly pod: Pick<PodSpecInput, "hostUsers" | "securityContext">;
  /** Who buildkitd runs as, where it is not root: a volume of its own has to be theirs. */
  readonly user?: number;
}

/** The release of BuildKit that workers run by default. */
export const buildkitVersion = "v0.33.1";

const rootful = {
  image: `moby/buildkit:${buildkitVersion}`,
  stateFolder: "/var/lib/buildkit",
  socket: "unix:///run/buildkit/buildkitd.sock",
  args: [],
  container: { securityContext: { privileged: true } },
} as const;

/** The user that the rootless image runs as. */
const ROOTLESS_USER = 1_000;

/**
 * As upstream's own examples have them. `privileged` and `userns` need a namespace that Pod
 * Security holds to `privileged`; `rootless` needs the same for its seccomp and AppArmor profiles,
 * and has no power over its node.
 */
export const profiles: Readonly<Record<Profile, ProfileFacts>> = {
  privileged: { ...rootful, pod: {} },
  // Privileged within a user namespace alone: root of the container is nobody on the node.
  userns: { ...rootful, pod: { hostUsers: false } },
  rootless: {
    image: `moby/buildkit:${buildkitVersion}-rootless`,
    stateFolder: "/home/user/.local/share/buildkit",
    socket: `unix:///run/user/${ROOTLESS_USER}/buildkit/buildkitd.sock`,
    // Without root it cannot mount a /proc of its own. With root the daemon refuses to start with
    // it.
    args: ["--oci-worker-no-process-sandbox"],
    container: {
      securityContext: {
        runAsUser: ROOTLESS_USER,
        runAsGroup: ROOTLESS_USER,
        runAsNonRoot: true,
        seccompProfile: { type: "Unconfined" },
        appArmorProfile: { type: "Unconfined" },
      },
    },
    user: ROOTLESS_USER,
    // A volume that is mounted for the first time belongs to root.
    pod: { securityContext: { fsGroup: ROOTLESS_USER, fsGroupChangePolicy: "OnRootMismatch" } },
  },
};
