/** Which pool: its name and namespace. */
export interface PoolName {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name`. Neither part can hold a slash, so no two pools share one. */
export function poolText({ namespace, name }: PoolName): string {
  return `${namespace}/${name}`;
}
