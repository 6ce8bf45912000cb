import { byCodePoint } from "../jsonnet/index.ts";

/** A property that an action's platform must have. */
export interface PlatformProperty {
  readonly name: string;
  readonly value: string;
}

/**
 * How Buildbarn orders properties: by name and then by value, each by its code points. That is not
 * JavaScript's own order of text.
 */
export function compareProperties(a: PlatformProperty, b: PlatformProperty): number {
  return byCodePoint(a.name, b.name) || byCodePoint(a.value, b.value);
}

/** Buildbarn takes properties only in this order: a worker with another one never gets work. */
export function sorted(platform: readonly PlatformProperty[]): readonly { name: string; value: string }[] {
  return platform.map(({ name, value }) => ({ name, value })).toSorted(compareProperties);
}
