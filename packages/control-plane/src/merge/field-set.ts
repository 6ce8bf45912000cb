import type { PathElement } from "./path-element.ts";

/**
 * What a set knows of one element: whether the path that ends here is a member, and which members
 * lie below it.
 */
export interface FieldNode {
  readonly member: boolean;
  readonly children: FieldSet | undefined;
}

/** The node of a path that is a member and has nothing below it. */
export const LEAF: FieldNode = { member: true, children: undefined };

/**
 * A set of field paths, as a tree. A path and a path below it are separate members: owning `.spec`
 * says nothing about owning `.spec.replicas`. Never changed once built, so that parts are shared
 * freely; the empty path is never a member.
 */
export class FieldSet {
  readonly nodes: ReadonlyMap<PathElement, FieldNode>;

  constructor(nodes: ReadonlyMap<PathElement, FieldNode>) {
    this.nodes = nodes;
  }

  get empty(): boolean {
    return this.nodes.size === 0;
  }

  has([first, ...rest]: readonly PathElement[]): boolean {
    const node = first === undefined ? undefined : this.nodes.get(first);
    return rest.length === 0 ? (node?.member ?? false) : (node?.children?.has(rest) ?? false);
  }

  union(other: FieldSet): FieldSet {
    if (this.empty) return other;
    if (other.empty) return this;
    const nodes = new Map(this.nodes);
    for (const [element, node] of other.nodes) {
      const mine = nodes.get(element);
      nodes.set(element, mine === undefined ? node : uniteNodes(mine, node));
    }
    return new FieldSet(nodes);
  }

  /**
   * The members of all of them. Takes as long as they are large, where one union after the other
   * would be quadratic.
   */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    const [first = EMPTY_SET] = sets;
    if (sets.length <= 1) return first;
    const all = new Map<PathElement, FieldNode[]>();
    for (const set of sets) {
      for (const [element, node] of set.nodes) {
        const same = all.get(element);
        if (same === undefined) all.set(element, [node]);
        else same.push(node);
      }
    }
    return build((nodes) => {
      for (const [element, same] of all) {
        const below = same.flatMap(({ children }) => children ?? []);
        addNode(
          nodes,
          element,
          same.some(({ member }) => member),
          FieldSet.unionOf(below),
        );
      }
    });
  }

  intersection(other: FieldSet): FieldSet {
    return build((nodes) => {
      for (const [element, mine] of this.nodes) {
        const theirs = other.nodes.get(element);
        if (theirs === undefined) continue;
        const children =
          mine.children && theirs.children ? mine.children.intersection(theirs.children) : undefined;
        addNode(nodes, element, mine.member && theirs.member, children);
      }
    });
  }

  /** Members of this set that are not members of the other. */
  difference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    return build((nodes) => {
      for (const [element, mine] of this.nodes) {
        const theirs = other.nodes.get(element);
        if (theirs === undefined) {
          nodes.set(element, mine);
          continue;
        }
        const children =
          mine.children && theirs.children ? mine.children.difference(theirs.children) : mine.children;
        addNode(nodes, element, mine.member && !theirs.member, children);
      }
    });
  }

  /** Members of this set that neither are members of the other nor lie below one. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    return build((nodes) => {
      for (const [element, mine] of this.nodes) {
        const theirs = other.nodes.get(element);
        if (theirs === undefined) {
          nodes.set(element, mine);
        } else if (!theirs.member) {
          const children =
            mine.children && theirs.children
              ? mine.children.recursiveDifference(theirs.children)
              : mine.children;
          addNode(nodes, element, mine.member, children);
        }
      }
    });
  }

  /** The members that have no member below them. */
  leaves(): FieldSet {
    return build((nodes) => {
      for (const [element, node] of this.nodes) {
        if (node.children === undefined) nodes.set(element, node);
        else addNode(nodes, element, false, node.children.leaves());
      }
    });
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.nodes.size !== other.nodes.size) return false;
    for (const [element, mine] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined || mine.member !== theirs.member) return false;
      if (!(mine.children ?? EMPTY_SET).equals(theirs.children ?? EMPTY_SET)) return false;
    }
    return true;
  }

  /** Every member, as a path from the root, in no particular order. */
  *paths(prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    for (const [element, node] of this.nodes) {
      const path = [...prefix, element];
      if (node.member) yield path;
      if (node.children) yield* node.children.paths(path);
    }
  }

  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    return paths.reduce<FieldSet>((set, path) => set.union(single(path)), EMPTY_SET);
  }
}

export const EMPTY_SET = new FieldSet(new Map());

export function build(fill: (nodes: Map<PathElement, FieldNode>) => void): FieldSet {
  const nodes = new Map<PathElement, FieldNode>();
  fill(nodes);
  return nodes.size === 0 ? EMPTY_SET : new FieldSet(nodes);
}

/** Adds a node unless it would say nothing. */
export function addNode(
  nodes: Map<PathElement, FieldNode>,
  element: PathElement,
  member: boolean,
  children: FieldSet | undefined,
): void {
  const below = children === undefined || children.empty ? undefined : children;
  if (below !== undefined) nodes.set(element, { member, children: below });
  else if (member) nodes.set(element, LEAF);
}

export function uniteNodes(a: FieldNode, b: FieldNode): FieldNode {
  return {
    member: a.member || b.member,
    children: a.children && b.children ? a.children.union(b.children) : (a.children ?? b.children),
  };
}

function single(path: readonly PathElement[]): FieldSet {
  const [first, ...rest] = path;
  if (first === undefined) return EMPTY_SET;
  return build((nodes) =>
    addNode(nodes, first, rest.length === 0, rest.length === 0 ? undefined : single(rest)),
  );
}
