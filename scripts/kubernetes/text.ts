/** How long a line may be before its value is spread over several. */
const width = 120;

/**
 * JSON in which a value is on one line where it fits, and each of its fields or items on its own
 * where it does not: a change shows as the lines that it concerns.
 */
export function jsonLines(value: unknown): string {
  return `${spread(value, "", "")}\n`;
}

/** @param before What is on the line before the value. */
function spread(value: unknown, before: string, indent: string): string {
  const whole = JSON.stringify(value);
  const fits = before.length + whole.length <= width;
  if (fits || typeof value !== "object" || value === null) return before + whole;
  const inner = `${indent} `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((item) => spread(item, inner, inner))
    : Object.entries(value).map(([name, held]) => spread(held, `${inner}${JSON.stringify(name)}: `, inner));
  return `${before}${open}\n${parts.join(",\n")}\n${indent}${close}`;
}
