import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import { PatternError } from "./pattern-error.ts";

/** What is asked of a pattern. */
export type Question =
  | { readonly ask: "is valid"; readonly pattern: string }
  | { readonly ask: "test"; readonly pattern: string; readonly text: string }
  | { readonly ask: "find"; readonly pattern: string; readonly text: string }
  | { readonly ask: "find all"; readonly pattern: string; readonly text: string; readonly most: number };

/** Whether it is so, or what was found. */
export type MatchResult = boolean | string | readonly string[] | undefined;

/** So many compiled patterns are kept. */
const kept = 1_000;

/** RE2, whose time is linear in the length of a text whatever the pattern. */
export class Re2 {
  readonly #compiled = new Map<string, RE2JS>();

  /** @throws PatternError */
  answer(question: Question): MatchResult {
    const pattern = this.#compile(question.pattern);
    switch (question.ask) {
      case "is valid":
        return true;
      case "test":
        return pattern.test(question.text);
      case "find": {
        const matcher = pattern.matcher(question.text);
        return matcher.find() ? (matcher.group() ?? undefined) : undefined;
      }
      case "find all":
        return findAll(pattern, question.text, question.most);
    }
  }

  /** How many instructions it makes of a pattern. @throws PatternError */
  sizeOf(pattern: string): number {
    return this.#compile(pattern).programSize();
  }

  has(pattern: string): boolean {
    return this.#compiled.has(pattern);
  }

  #compile(text: string): RE2JS {
    let pattern = this.#compiled.get(text);
    if (pattern === undefined) {
      pattern = compile(text);
      if (this.#compiled.size >= kept) this.#compiled.clear();
      this.#compiled.set(text, pattern);
    }
    return pattern;
  }
}

function compile(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go accepts groups of the same name. Group names are not used here, so they are removed.
    const unnamed = error.message.includes("duplicate capture group name") ? withoutNames(text) : text;
    if (unnamed !== text) return compile(unnamed);
    // Go shows what is wrong also where it is nothing.
    const shown = error instanceof RE2JSSyntaxException && !error.input ? ": ``" : "";
    throw new PatternError(`${error.message}${shown}`);
  }
}

function withoutNames(pattern: string): string {
  return pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\])*(?:\]|$)|\(\?P?<\w+>/gs, (part) =>
    part.startsWith("(") ? "(" : part,
  );
}

/** All matches, as Go finds them: an empty one right after another does not count. */
function findAll(pattern: RE2JS, text: string, most: number): string[] {
  const matcher = pattern.matcher(text);
  const found: string[] = [];
  let end = -1;
  while (found.length < most && matcher.find()) {
    const isEmpty = matcher.start() === matcher.end();
    if (!(isEmpty && matcher.start() === end)) found.push(matcher.group() ?? "");
    end = matcher.end();
  }
  return found;
}
