const categories =
  /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfos]?|Latin|Greek|Cyrillic|Han|Hiragana|Katakana|Arabic|Hebrew|Thai)$/;

/**
 * What in a regular expression the API server's engine (RE2) does not know, or undefined when it is fine. RE2 never
 * backtracks, so whatever needs that is missing there; a CRD with such a pattern is refused as a whole.
 */
export function beyondRe2(source: string): string | undefined {
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const rest = source.slice(at);
    if (rest.startsWith("\\")) {
      const fault = escapeBeyondRe2(rest, inClass);
      if (fault !== undefined) return fault;
      at++;
    } else if (inClass) {
      inClass = !rest.startsWith("]");
    } else if (rest.startsWith("[")) {
      if (/^\[\^?\]/.test(rest)) return "an empty character class";
      inClass = true;
    } else if (/^\(\?<?[=!]/.test(rest)) {
      return "look-around";
    } else if (/^\(\?[-a-z]*[:)]/.test(rest) && !/^\(\?(?:[ims]*(?:-[ims]+)?)[:)]/.test(rest)) {
      return "a flag other than i, m and s";
    } else {
      const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(rest);
      if (repeat !== null && Math.max(Number(repeat[1]), Number(repeat[2] ?? 0)) > 1000) {
        return "a repetition of more than 1000";
      }
    }
  }
  return undefined;
}

function escapeBeyondRe2(rest: string, inClass: boolean): string | undefined {
  const letter = rest.charAt(1);
  if (!inClass && (/[1-9]/.test(letter) || rest.startsWith("\\k<"))) return "a back-reference";
  if (letter === "u") return "a \\u escape";
  if (letter === "c") return "a \\c escape";
  if (letter === "p" || letter === "P") {
    const name = /^\\[pP]\{([^}]*)\}/.exec(rest)?.[1] ?? "";
    if (!categories.test(name)) return `the Unicode property ${name === "" ? "escape" : name}`;
  }
  return undefined;
}

/** The pattern as RE2 reads it: JavaScript keeps flags outside the expression, RE2 inside. */
export function re2Source(pattern: RegExp): string {
  const flags = pattern.flags.replaceAll(/[^ims]/g, "");
  return flags === "" ? pattern.source : `(?${flags})${pattern.source}`;
}
