/** Differences that are there on purpose, or that come of timing, and why. */
export const known: readonly { readonly matches: RegExp; readonly why: string }[] = [
  {
    matches: /^ConfigMap kube-root-ca\.crt/,
    why: "each cluster has an authority of its own, and a description in its own words",
  },
  {
    matches: /storage-provisioner|ProvisioningSucceeded/,
    why: "volumes are made up by another provisioner",
  },
  {
    matches: /^EndpointSlice .*\.metadata\.generation/,
    why: "pods become ready within one turn, so that their slice is written fewer times",
  },
  {
    matches: /^Pod no-image\.status\.containerStatuses\[0\]\.state|"no-image".*Failed to pull image/,
    why: "there is no registry whose answer could be quoted, and a failed pull is at once a waiting one",
  },
  {
    matches: /FailedScheduling.*unbound immediate PersistentVolumeClaims/,
    why: "claims are bound before the scheduler looks a second time",
  },
  {
    matches: /FailedUpdate.*the object has been modified/,
    why: "a real controller may work from an old copy; these read what is stored",
  },
  {
    matches: /combined from similar events/,
    why: "which of several similar events came last is a matter of timing",
  },
  {
    matches: /^Pod crash\.status\.containerStatuses\[0\]\.(state|lastState|restartCount)/,
    why: "real containers take a second or two to end",
  },
];
