import { anything, type CharacterSet, overlap } from "./character-set.ts";
import type { Alternative, Part } from "./syntax.ts";

/** Patterns with more positions, or that take longer to look through, are left to RE2. */
const mostPositions = 256;
const mostEdges = 2_000;
const mostPairs = 20_000;

/**
 * How much work a backtracking engine can have with a pattern, at most, for each character of a
 * text; undefined where there is no such bound, or none is found.
 *
 * A backtracking engine tries the ways through a pattern one after the other. If there is never
 * more than one way to reach a position of the pattern with a given part of the text, then there
 * are no more ways than positions, and the time is linear. So the automaton of the pattern's
 * positions is searched for two ways that read the same text, part, and meet again.
 */
export function workPerCharacter(alternatives: readonly Alternative[]): number | undefined {
  const automaton = automatonOf(alternatives);
  return automaton && isUnambiguous(automaton) ? automaton.edges : undefined;
}

/** Which positions can follow which. The first is the start. */
interface Automaton {
  readonly sets: readonly CharacterSet[];
  readonly follow: readonly (readonly number[])[];
  readonly edges: number;
}

/** Where one can enter and leave a part. */
interface Span {
  readonly isNullable: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

/** Thrown for patterns that are too large, or that have several ways to match nothing. */
class Unbounded extends Error {}

const start = 0;

function automatonOf(alternatives: readonly Alternative[]): Automaton | undefined {
  const builder = new Builder();
  try {
    const anywhere = alternatives.some(({ fromStart }) => !fromStart)
      ? builder.position(anything)
      : undefined;
    if (anywhere !== undefined) builder.connect([start, anywhere], [anywhere]);
    for (const { fromStart, part } of alternatives) {
      const { first } = builder.build(part);
      builder.connect(fromStart || anywhere === undefined ? [start] : [start, anywhere], first);
    }
    return builder.automaton();
  } catch (error) {
    if (error instanceof Unbounded) return undefined;
    throw error;
  }
}

/** Builds the automaton whose states are the positions of a pattern (Glushkov's). */
class Builder {
  readonly #sets: CharacterSet[] = [{ ranges: [] }];
  readonly #follow: Set<number>[] = [new Set()];
  #edges = 0;

  automaton(): Automaton {
    return { sets: this.#sets, follow: this.#follow.map((next) => [...next]), edges: this.#edges };
  }

  position(set: CharacterSet): number {
    if (this.#sets.length > mostPositions) throw new Unbounded();
    this.#follow.push(new Set());
    return this.#sets.push(set) - 1;
  }

  connect(from: readonly number[], to: readonly number[]): void {
    for (const one of from) {
      const next = this.#follow[one] as Set<number>;
      for (const other of to) {
        // Nested repetitions go round in two ways, which look alike here.
        if (next.has(other)) throw new Unbounded();
        next.add(other);
        if (++this.#edges > mostEdges) throw new Unbounded();
      }
    }
  }

  build(part: Part): Span {
    switch (part.is) {
      case "character": {
        const at = this.position(part.set);
        return { isNullable: false, first: [at], last: [at] };
      }
      case "sequence":
        return part.parts.reduce<Span>((span, next) => this.#then(span, this.build(next)), nothing);
      case "choice": {
        const branches = part.branches.map((branch) => this.build(branch));
        const isNullable = branches.some((branch) => branch.isNullable);
        if (isNullable && branches.length > 1) throw new Unbounded();
        const first = branches.flatMap((branch) => branch.first);
        return { isNullable, first, last: branches.flatMap((branch) => branch.last) };
      }
      case "repetition":
        return this.#repeat(part);
    }
  }

  #then(before: Span, after: Span): Span {
    this.connect(before.last, after.first);
    return {
      isNullable: before.isNullable && after.isNullable,
      first: before.isNullable ? [...before.first, ...after.first] : before.first,
      last: after.isNullable ? [...before.last, ...after.last] : after.last,
    };
  }

  /**
   * Each round has positions of its own, up to the last that is counted, and follows the round
   * before it only.
   */
  #repeat({ part, least, most }: Part & { readonly is: "repetition" }): Span {
    const isEndless = most === Number.POSITIVE_INFINITY;
    const rounds = isEndless ? Math.max(least, 1) : most;
    let first: readonly number[] = [];
    let last: readonly number[] = [];
    let previous: readonly number[] = [];
    for (let round = 1; round <= rounds; round++) {
      const built = this.build(part);
      // A round that reads nothing would be one more way each time.
      if (built.isNullable) throw new Unbounded();
      this.connect(previous, built.first);
      if (isEndless && round === rounds) this.connect(built.last, built.first);
      if (round === 1) first = built.first;
      last = round <= least ? built.last : [...last, ...built.last];
      previous = built.last;
    }
    return { isNullable: least === 0, first, last };
  }
}

const nothing: Span = { isNullable: true, first: [], last: [] };

function isUnambiguous({ sets, follow }: Automaton): boolean {
  const size = sets.length;
  const seen = new Set<number>();
  const waiting: (readonly [number, number])[] = follow.map((_, at) => [at, at]);
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [one, other] = pair;
    for (const next of follow[one] as readonly number[]) {
      for (const otherNext of follow[other] as readonly number[]) {
        if (next === otherNext) {
          if (one !== other) return false;
          continue;
        }
        const key = Math.min(next, otherNext) * size + Math.max(next, otherNext);
        if (seen.has(key) || !overlap(sets[next] as CharacterSet, sets[otherNext] as CharacterSet)) continue;
        if (seen.size >= mostPairs) return false;
        seen.add(key);
        waiting.push([next, otherNext]);
      }
    }
  }
  return true;
}
