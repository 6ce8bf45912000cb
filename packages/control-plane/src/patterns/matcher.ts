import { nextTurn, type Steps } from "../steps.ts";
import { workPerCharacter } from "./backtracking.ts";
import { PatternError } from "./pattern-error.ts";
import { programSize } from "./program-size.ts";
import type { MatchResult, Question, Re2 } from "./re2.ts";
import { javaScriptSource, parsePlain } from "./syntax.ts";
import type { WorkerThread } from "./worker-thread.ts";

/**
 * What may be spent on patterns before others get their turn, in instructions of RE2 on one
 * character. RE2 takes up to 80 ns for one, JavaScript's engine less than 10 for one of its own.
 */
const turnBudget = 400_000;
/** What costs more than this is no business of the thread that serves requests. */
const slow = turnBudget / 2;
const nativeStep = 1 / 8;
/** Compiling costs about as much as reading so many characters. */
const compiling = 20;
/** JavaScript's engine keeps its way back on a stack, which longer texts might exhaust. */
const longestNative = 32_768;
/** Texts up to this length cost JavaScript's engine next to nothing. */
const free = 256;
/** So many patterns are remembered. */
const kept = 10_000;

/** A pattern, and which engines may run it. */
interface Known {
  /** How large RE2's program is, at most. */
  readonly size: number;
  /** JavaScript's own engine, five to ten times as fast, where it is known to take linear time. */
  readonly native?: { readonly regexp: RegExp; readonly work: number };
}

/** The RE2 patterns of a control plane: what is known of them, and the engines that run them. */
export class Patterns implements AsyncDisposable {
  readonly #known = new Map<string, Known>();
  #re2: Re2 | undefined;
  #thread: WorkerThread | undefined;

  /** Matches within one validation. */
  matcher(): Matcher {
    return new Matcher(this);
  }

  known(pattern: string): Known {
    let known = this.#known.get(pattern);
    if (known === undefined) {
      known = lookAt(pattern);
      if (this.#known.size >= kept) this.#known.clear();
      this.#known.set(pattern, known);
    }
    return known;
  }

  /** RE2, once it is loaded. */
  get re2(): Re2 | undefined {
    return this.#re2;
  }

  async load(): Promise<void> {
    const { Re2 } = await import("./re2.ts");
    this.#re2 ??= new Re2();
  }

  async askThread(question: Question): Promise<MatchResult | PatternError> {
    const { WorkerThread } = await import("./worker-thread.ts");
    this.#thread ??= new WorkerThread();
    return await this.#thread.ask(question);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.close();
  }
}

function lookAt(pattern: string): Known {
  const size = programSize(pattern);
  const plain = parsePlain(pattern);
  const work = plain && workPerCharacter(plain);
  if (plain === undefined || work === undefined) return { size };
  return { size, native: { regexp: new RegExp(javaScriptSource(plain), "u"), work } };
}

/**
 * Thrown where an answer would block the event loop too long. `attempt` waits for it, and starts
 * over: evaluating every expression as a generator would slow down all of them for the few that
 * wait.
 */
export class MatchPending extends Error {
  /** Finds the answer, which the matcher then knows. */
  readonly settle: () => Promise<void>;

  constructor(settle: () => Promise<void>) {
    super("a pattern is still being matched");
    this.name = "MatchPending";
    this.settle = settle;
  }
}

/**
 * Matches texts against RE2 patterns, and never blocks the event loop for long: every question
 * throws `MatchPending` where its answer must be waited for.
 */
export class Matcher {
  readonly #patterns: Patterns;
  readonly #answers = new Map<string, Map<string, MatchResult | PatternError>>();
  #left = turnBudget;

  constructor(patterns: Patterns) {
    this.#patterns = patterns;
  }

  /**
   * Runs work that asks questions, as often as it takes to have all answers. It must have no
   * effects.
   */
  *attempt<T>(work: () => T): Steps<T> {
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof MatchPending)) throw error;
        yield error.settle;
      }
    }
  }

  /** @throws PatternError if RE2 does not accept the pattern */
  check(pattern: string): void {
    if (this.#patterns.known(pattern).native === undefined) this.#ask({ ask: "is valid", pattern }, "");
  }

  /** Whether a part of the text matches. @throws PatternError */
  test(pattern: string, text: string): boolean {
    const { native } = this.#patterns.known(pattern);
    if (native !== undefined && text.length <= free) return native.regexp.test(text);
    return this.#ask({ ask: "test", pattern, text }, text) === true;
  }

  /** The first match. @throws PatternError */
  find(pattern: string, text: string): string | undefined {
    return this.#ask({ ask: "find", pattern, text }, text) as string | undefined;
  }

  /** The first so many matches. @throws PatternError */
  findAll(pattern: string, text: string, most: number): readonly string[] {
    return this.#ask({ ask: "find all", pattern, text, most }, text) as readonly string[];
  }

  #ask(question: Question, text: string): MatchResult {
    const key = `${question.ask} ${"most" in question ? question.most : ""} ${question.pattern}`;
    let answers = this.#answers.get(key);
    if (answers === undefined) {
      answers = new Map();
      this.#answers.set(key, answers);
    }
    // All answers are kept: work that had to wait starts over, and must get further each time.
    let answer = answers.get(text);
    if (answer === undefined && !answers.has(text)) {
      answer = this.#answer(question, text.length, answers);
      answers.set(text, answer);
    }
    if (answer instanceof PatternError) throw answer;
    return answer;
  }

  #answer(
    question: Question,
    length: number,
    answers: Map<string, MatchResult | PatternError>,
  ): MatchResult | PatternError {
    const { re2 } = this.#patterns;
    const { size, native } = this.#patterns.known(question.pattern);
    if (native !== undefined && question.ask === "test" && length <= longestNative) {
      const cost = native.work * length * nativeStep;
      if (cost <= slow) {
        this.#spend(cost);
        return native.regexp.test(question.text);
      }
    }
    // Each of many matches may have to look through the whole text.
    const scans = question.ask === "find all" ? Math.min(question.most, length + 1) : 1;
    const cost = size * ((length + 1) * scans + (re2?.has(question.pattern) ? 0 : compiling));
    if (cost > slow) {
      throw this.#pending(async () => {
        answers.set("text" in question ? question.text : "", await this.#patterns.askThread(question));
      });
    }
    if (re2 === undefined) throw this.#pending(() => this.#patterns.load());
    this.#spend(cost);
    try {
      return re2.answer(question);
    } catch (error) {
      if (error instanceof PatternError) return error;
      throw error;
    }
  }

  #spend(cost: number): void {
    if (cost > this.#left) throw this.#pending(nextTurn);
    this.#left -= cost;
  }

  /** Whatever is waited for, others get their turn meanwhile, and this matcher a new budget. */
  #pending(wait: () => Promise<void>): MatchPending {
    return new MatchPending(async () => {
      await wait();
      this.#left = turnBudget;
    });
  }
}
