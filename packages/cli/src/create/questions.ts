import { createInterface, type Interface } from "node:readline";
import { UsageError } from "../errors.ts";
import { styler, type Terminal } from "../terminal.ts";

/** Something to ask the user. */
export interface Question {
  readonly text: string;
  /** What an empty answer means. */
  readonly otherwise: string;
  /** @throws UsageError for an answer that will not do */
  check(answer: string): void;
}

/** Asks questions on a terminal, one after the other. Disposing it gives the terminal back. */
export class Questions implements Disposable {
  readonly #terminal: Terminal;
  readonly #lines: Interface;
  readonly #answers: AsyncIterator<string>;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#lines = createInterface({ input: terminal.stdin, signal: terminal.signal });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** Asks until the answer will do. */
  async ask(question: Question): Promise<string> {
    const { stderr, signal } = this.#terminal;
    const style = styler(this.#terminal, stderr);
    for (;;) {
      stderr.write(`${style("bold", question.text)} ${style("dim", `(${question.otherwise})`)} `);
      const next = await this.#answers.next();
      signal.throwIfAborted();
      const answer = (next.done === true ? "" : next.value.trim()) || question.otherwise;
      const fault = faultOf(question, answer);
      if (fault === undefined) return answer;
      if (next.done === true) throw new UsageError(fault);
      stderr.write(`${style("red", fault)}\n`);
    }
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }
}

function faultOf(question: Question, answer: string): string | undefined {
  try {
    question.check(answer);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}
