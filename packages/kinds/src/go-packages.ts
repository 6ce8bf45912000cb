/** The package that the types of a group are recorded under: `core.v1`, `rbac.v1`. */
export function packageOf(group: string, version: string): string {
  return `${packageNameOf(group)}.${version}`;
}

/** What the packages of a group begin with: `core` for the one without a name. */
export function packageNameOf(group: string): string {
  return group === "" ? "core" : (group.split(".", 1)[0] ?? group);
}
