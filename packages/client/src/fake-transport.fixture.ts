import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";

/** What a fake server answers: a status, headers, and a body in chunks. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string | readonly string[]>;
  /** Bytes or text in chunks; anything else is sent as JSON. */
  readonly chunks?: Iterable<string | Uint8Array>;
  readonly json?: unknown;
}

/** A {@link fakeTransport}, and the fate of its answers. */
export interface FakeTransport extends Transport {
  readonly requests: TransportRequest[];
  /** How many answers were let go before their end. */
  readonly left: number;
  /** How many answers have neither been read to their end nor let go. */
  readonly open: number;
}

/** A transport without a network, for tests: answers by a function, and keeps what it was asked. */
export function fakeTransport(
  answer: (request: TransportRequest, count: number) => Answer | Promise<Answer>,
): FakeTransport {
  const requests: TransportRequest[] = [];
  let left = 0;
  let open = 0;
  return {
    requests,
    get left() {
      return left;
    },
    get open() {
      return open;
    },
    async request(request): Promise<TransportResponse> {
      request.guard?.();
      requests.push(request);
      const { status = 200, headers = {}, chunks, json } = await answer(request, requests.length);
      const body = chunks ?? [JSON.stringify(json ?? {})];
      open++;
      const onEnd = (isRead: boolean) => {
        open--;
        if (!isRead) left++;
      };
      return {
        status,
        headers: { "content-type": "application/json", ...headers },
        body: { [Symbol.asyncIterator]: () => given(body, onEnd) },
      };
    },
    close: () => Promise.resolve(),
  };
}

/** Chunks one by one; unlike with a generator, to leave before the first is to leave. */
function given(
  chunks: Iterable<string | Uint8Array>,
  onEnd: (isRead: boolean) => void,
): AsyncIterator<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  let isOver = false;
  const end = (isRead: boolean) => {
    if (!isOver) onEnd(isRead);
    isOver = true;
    return { done: true, value: undefined } as const;
  };
  return {
    async next() {
      if (isOver) return end(true);
      try {
        const { done, value } = iterator.next();
        if (done) return end(true);
        return { done: false, value: typeof value === "string" ? Buffer.from(value) : value };
      } catch (error) {
        end(false);
        throw error;
      }
    },
    return: async () => end(false),
  };
}

/** A Status as servers send it. */
export function failure(code: number, reason: string, more: object = {}): Answer {
  const json = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, ...more };
  return { status: code, json };
}
