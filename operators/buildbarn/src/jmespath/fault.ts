/** An expression that its program would refuse, or could never answer. */
export class JmespathError extends Error {
  override readonly name = "JmespathError";
  /** Where it is, in UTF-16 code units from the beginning. */
  readonly offset: number;

  constructor(offset: number, fault: string) {
    super(fault);
    this.offset = offset;
  }
}

/** A place in an expression. Both count from 1. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
