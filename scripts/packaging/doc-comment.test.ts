import { expect, test } from "vitest";
import { readDocComment } from "./doc-comment.ts";

test("a comment is read by its tags", () => {
  const comment = `/**
 * Waits, as {@link sleep} does.
 * For how long is up to you. @default "1s"
 *
 * @param clock Whose time it is.
 * @throws RangeError if it is negative
 * @example
 * await wait(clock);
 *   // later
 */`;
  expect(readDocComment(comment)).toEqual({
    text: 'Waits, as `sleep` does.\nFor how long is up to you. Default: "1s".',
    params: ["clock Whose time it is."],
    returns: undefined,
    throws: ["RangeError if it is negative"],
    examples: ["await wait(clock);\n  // later"],
  });
  expect(readDocComment("/** One line. */").text).toBe("One line.");
  expect(readDocComment("").text).toBe("");
});
