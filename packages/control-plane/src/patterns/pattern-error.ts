/** A pattern that RE2 does not accept, in the words of Go's regexp package. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PatternError";
  }
}
