/**
 * Where standard base64 goes wrong, as the offset Go's decoder names, or undefined where it does
 * not. Line breaks are allowed anywhere, padding is required.
 */
export function base64Fault(text: string): number | undefined {
  let at = 0;
  const skipLines = () => {
    while (text[at] === "\n" || text[at] === "\r") at++;
  };
  for (;;) {
    let held = 0;
    while (held < 4) {
      skipLines();
      if (at === text.length) return held === 0 ? undefined : at - held;
      const character = text[at++] ?? "";
      if (/[A-Za-z0-9+/]/.test(character)) {
        held++;
        continue;
      }
      if (character !== "=" || held < 2) return at - 1;
      if (held === 2) {
        skipLines();
        if (at === text.length) return text.length;
        if (text[at++] !== "=") return at - 1;
      }
      skipLines();
      return at === text.length ? undefined : at;
    }
  }
}
