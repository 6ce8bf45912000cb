/** What proves who one is. A new object each time something in it changed. */
export interface Credential {
  /** The value of the `Authorization` header. */
  readonly authorization?: string;
  /** A client certificate and its key, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** A source of credentials that may change while the process runs. */
export interface Credentials {
  /** What to use now, at once if it is known. Cheap: asked before every request. */
  current(): Credential | Promise<Credential>;
  /** The server refused this one; if it is still the current one, get another. */
  invalidate(refused: Credential): void;
}
