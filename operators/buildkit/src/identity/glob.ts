/**
 * Whether a text matches a pattern in which `*` stands for any characters, slashes too, and `?` for
 * one. Letters count as they are written. Takes time in proportion to both lengths, whatever the
 * pattern: patterns come from users.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  /** Where to go on when what follows the last star does not fit. */
  let retry: { readonly pattern: number; text: number } | undefined;
  while (inText < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      inPattern += 1;
      retry = { pattern: inPattern, text: inText };
    } else if (wanted !== undefined && (wanted === "?" || wanted === text[inText])) {
      inPattern += 1;
      inText += 1;
    } else if (retry) {
      retry.text += 1;
      inPattern = retry.pattern;
      inText = retry.text;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}

/** Whether a text matches one of some patterns. */
export function matchesAnyGlob(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, text));
}
