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

/** A check that found nothing wrong. */
export function fine(about: string, words: string): Finding {
  return { is: "fine", about, words };
}

/** A check that found a fault, with what to do about it. */
export function fault(about: string, words: string, remedy: string): Finding {
  return { is: "fault", about, words, remedy };
}

/** A check that found what may be a fault, with what to do about it. */
export function warning(about: string, words: string, remedy: string): Finding {
  return { is: "warning", about, words, remedy };
}

/** A check that could not be made, with the reason. */
export function skipped(about: string, words: string): Finding {
  return { is: "skipped", about, words };
}
