const categories =
  /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfos]?|Latin|Greek|Cyrillic|Han|Hiragana|Katakana|Arabic|Hebrew|Thai)$/;

/** RE2 unrolls counted repetitions, and refuses to beyond this many copies. */
const mostCopies = 1000;

/**
 * What in a regular expression the API server's engine (RE2) does not know, or undefined when it is
 * fine. RE2 never backtracks, so whatever needs that is missing there; a CRD with such a pattern is
 * refused as a whole.
 */
export function beyondRe2(source: string): string | undefined {
  let inClass = false;
  /** The copies that each open group unrolls to, the innermost last. */
  const copies = [1];
  let last = 1;
  for (let at = 0; at < source.length; at++) {
    const rest = source.slice(at);
    if (rest.startsWith("\\")) {
      const fault = escapeBeyondRe2(rest, inClass);
      if (fault !== undefined) return fault;
      at++;
      last = 1;
    } else if (inClass) {
      if (rest.startsWith("[:")) return "a POSIX class";
      inClass = !rest.startsWith("]");
    } else if (rest.startsWith("[")) {
      if (/^\[\^?\]/.test(rest)) return "an empty character class";
      inClass = true;
      last = 1;
    } else if (rest.startsWith("(")) {
      if (/^\(\?<?[=!]/.test(rest)) return "look-around";
      copies.push(1);
    } else if (rest.startsWith(")")) {
      last = copies.pop() ?? 1;
      if (copies.length === 0) copies.push(1);
    } else {
      const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(rest);
      last = repeat === null ? 1 : last * Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1);
    }
    copies.push(Math.max(copies.pop() ?? 1, last));
    if (last > mostCopies) return `a repetition of more than ${mostCopies}`;
  }
  return undefined;
}

function escapeBeyondRe2(rest: string, inClass: boolean): string | undefined {
  const letter = rest.charAt(1);
  if (!inClass && (/[1-9]/.test(letter) || rest.startsWith("\\k<"))) return "a back-reference";
  if (letter === "p" || letter === "P") {
    const name = /^\\[pP]\{([^}]*)\}/.exec(rest)?.[1] ?? "";
    return categories.test(name) ? undefined : `the Unicode property ${name === "" ? "escape" : name}`;
  }
  if (/[A-Za-z]/.test(letter) && !(inClass ? /[dDfnrsStvwWx]/ : /[bBdDfnrsStvwWx]/).test(letter)) {
    return `the escape \\${letter}`;
  }
  return undefined;
}

/** The pattern as RE2 reads it: JavaScript keeps flags outside the expression, RE2 inside. */
export function re2Source(pattern: RegExp): string {
  const flags = pattern.flags.replaceAll(/[^ims]/g, "");
  return flags === "" ? pattern.source : `(?${flags})${pattern.source}`;
}
