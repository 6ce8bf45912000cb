/**
 * The most characters of warnings in an answer. Beyond that each is truncated, and those that still
 * do not fit are dropped.
 */
const totalLimit = 4_096;
const itemLimit = 256;

/**
 * The `Warning` headers for these texts, without repetitions. Texts with control characters are
 * dropped, because headers cannot hold them.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  let told: string[] = [];
  let written = 0;
  let isCutting = false;
  for (const text of texts) {
    if (text === "" || seen.has(text) || (isCutting && written >= totalLimit)) continue;
    seen.add(text);
    const shown = isCutting ? cut(text) : text;
    if (!fits(shown)) continue;
    if (isCutting || written + length(shown) <= totalLimit) {
      told.push(shown);
      written += length(shown);
      continue;
    }
    isCutting = true;
    told = [...seen].map(cut).filter(fits);
    written = told.reduce((sum, one) => sum + length(one), 0);
  }
  return told.map((text) => `299 - "${text.replace(/[\\"]/g, "\\$&")}"`);
}

function length(text: string): number {
  return text.length < itemLimit ? text.length : Array.from(text).length;
}

function cut(text: string): string {
  return text.length <= itemLimit ? text : Array.from(text).slice(0, itemLimit).join("");
}

function fits(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}
