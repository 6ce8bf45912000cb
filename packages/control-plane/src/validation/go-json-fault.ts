/** What Go's JSON decoder says about a text that should be an object; undefined if it is one. */
export function jsonFault(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && !Array.isArray(value)) return undefined;
    const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return syntaxFault(text);
  }
}

const literals: { readonly [first: string]: string } = { t: "true", f: "false", n: "null" };

function syntaxFault(text: string): string {
  const trimmed = text.trimStart();
  const first = trimmed[0];
  if (first === undefined) return "unexpected end of JSON input";
  const literal = literals[first];
  if (literal !== undefined) {
    for (let at = 1; at < literal.length; at++) {
      const char = trimmed[at];
      if (char === undefined) return "unexpected end of JSON input";
      if (char !== literal[at]) {
        return `invalid character '${char}' in literal ${literal} (expecting '${literal[at]}')`;
      }
    }
  }
  if (!'{["-0123456789'.includes(first)) return `invalid character '${first}' looking for beginning of value`;
  return "unexpected end of JSON input";
}
