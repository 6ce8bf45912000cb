/** How long a token holds unless said otherwise. */
export const defaultTtlMs = 3_600_000;

/** The longest that a token may hold. */
export const longestTtlMs = 24 * 3_600_000;
