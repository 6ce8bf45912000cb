import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";

/**
 * Fields that concern one connection alone. HTTP/2 has none of them (RFC 9113, 8.2.2), and Node
 * throws where one is to be sent.
 */
const names = [
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

/** Whether a message has such a field: Node takes one of them from its peer. */
export function hasConnectionSpecific(headers: IncomingHttpHeaders): boolean {
  return names.some((name) => headers[name] !== undefined) || isOddTe(headers);
}

/** A message's fields without them. */
export function withoutConnectionSpecific(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (!hasConnectionSpecific(headers as IncomingHttpHeaders)) return headers;
  const kept = { ...headers };
  for (const name of names) delete kept[name];
  if (isOddTe(kept as IncomingHttpHeaders)) delete kept.te;
  return kept;
}

/** TE may say that trailers are understood, and nothing else. */
function isOddTe({ te }: IncomingHttpHeaders): boolean {
  return te !== undefined && te !== "trailers";
}
