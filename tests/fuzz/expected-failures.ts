/** A failure that the real server answers with too, and why it does. */
interface ExpectedFailure {
  readonly status: number;
  readonly words: RegExp;
  readonly why: string;
}

const known: readonly ExpectedFailure[] = [
  {
    status: 500,
    words: /resourceVersion should not be set on objects to be created/,
    why: "etcd's storage refuses it, and has no status of its own for it",
  },
  { status: 500, words: /strconv\.ParseUint/, why: "a resourceVersion is read where no error is expected" },
  {
    status: 500,
    words:
      /failed to create typed|field not declared in schema|expected a \[\]interface|content is not a list/,
    why: "server-side apply has no status for what does not fit the schema",
  },
  { status: 504, words: /Too large resource version/, why: "it waits for a revision that never comes" },
  { status: 500, words: /unknown patch type/, why: "a patch type that is known, but not to this kind" },
];

/** Whether the real server is known to fail in the same way. `replay` shows that it does. */
export function isRealServersOwn(status: number, text: string): boolean {
  return known.some((failure) => failure.status === status && failure.words.test(text));
}

/**
 * Whether the embedded server said that it has no such thing, which it says loudly, and with a
 * status that differs from any of the real one's.
 */
export function isUnsupported(status: number | "panic", text: string): boolean {
  return status === 501 && text.includes("WindlassUnsupported");
}
