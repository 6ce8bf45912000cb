/** So many characters of warnings an answer carries; beyond that each is cut, and what then still does not fit is left out. */
const totalLimit = 4_096;
const itemLimit = 256;

/** The `Warning` headers for these texts, each told once. No header can hold a control character: texts with one are left out. */
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
