import type { ApiResponse, Sink } from "../http/request.ts";
import type { FaultedRequest } from "./fault.ts";

/** A watch with a reader. */
export interface OpenStream {
  readonly asked: FaultedRequest;
  /** Ends it as a lost connection would. */
  cut(): void;
}

/** The watches that are open now. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();

  /** An answer whose stream is registered once it is read. @param onOpen called with it then */
  tracked(
    asked: FaultedRequest,
    response: ApiResponse,
    onOpen: (stream: OpenStream) => () => void,
  ): ApiResponse {
    const { body } = response;
    if (typeof body !== "function") return response;
    return {
      ...response,
      body: (sink) => {
        let forget: () => void = () => undefined;
        const ended = () => {
          this.#open.delete(stream);
          forget();
        };
        let stop: () => void = () => undefined;
        const watched: Sink = {
          write: (chunk) => sink.write(chunk),
          drained: (listener) => sink.drained(listener),
          end: () => {
            ended();
            sink.end();
          },
        };
        const stream: OpenStream = {
          asked,
          cut: () => {
            if (!this.#open.has(stream)) return;
            ended();
            stop();
            sink.end();
          },
        };
        this.#open.add(stream);
        stop = body(watched);
        forget = onOpen(stream);
        return () => {
          ended();
          stop();
        };
      },
    };
  }

  get size(): number {
    return this.#open.size;
  }

  matching(wanted: (asked: FaultedRequest) => boolean): OpenStream[] {
    return [...this.#open].filter(({ asked }) => wanted(asked));
  }
}
