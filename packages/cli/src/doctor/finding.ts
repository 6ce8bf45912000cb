/** Something that was looked at, and how it is. */
export type Finding =
  | { readonly is: "fine"; readonly about: string; readonly words: string }
  | {
      /** A fault keeps the operator from working; a warning will, or makes it hard to see. */
      readonly is: "fault" | "warning";
      readonly about: string;
      readonly words: string;
      /** What to do about it. */
      readonly remedy: string;
    }
  /** It could not be looked at, for a reason that is no fault. */
  | { readonly is: "skipped"; readonly about: string; readonly words: string };

export function fine(about: string, words: string): Finding {
  return { is: "fine", about, words };
}

export function fault(about: string, words: string, remedy: string): Finding {
  return { is: "fault", about, words, remedy };
}

export function warning(about: string, words: string, remedy: string): Finding {
  return { is: "warning", about, words, remedy };
}

export function skipped(about: string, words: string): Finding {
  return { is: "skipped", about, words };
}
