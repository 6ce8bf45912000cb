/**
 * What JSON may have in a text as it is, and YAML may not, or reads as something else: YAML folds a
 * line that ends with U+0085 as any other, and takes blanks around U+2028 away.
 */
const onlyJson = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** An escape within a text of JSON. Of those for U+D800 to U+DFFF each is half a character. */
const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/**
 * The value as JSON that is the same read as YAML, as API servers read the body of an apply. Half a
 * character, which YAML refuses, becomes U+FFFD, which is what they store for it elsewhere.
 */
export function jsonAsYaml(value: unknown): string {
  const text = JSON.stringify(value).replace(
    onlyJson,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  if (!text.includes("\\ud")) return text;
  return text.replace(escapes, (one) => (one.length > 2 ? "\\ufffd" : one));
}
