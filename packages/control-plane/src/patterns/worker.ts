import { parentPort } from "node:worker_threads";
import { PatternError } from "./pattern-error.ts";
import { type MatchResult, type Question, Re2 } from "./re2.ts";

/** What a worker sends back: once that it has started, and then answers. */
export type Reply = "ready" | { readonly answer: MatchResult } | { readonly fault: string };

/** A thread that answers what would take too long in the one that serves requests. */
const re2 = new Re2();
parentPort?.on("message", (question: Question) => {
  parentPort?.postMessage(replyTo(question));
});

parentPort?.postMessage("ready" satisfies Reply);

function replyTo(question: Question): Reply {
  try {
    return { answer: re2.answer(question) };
  } catch (error) {
    if (error instanceof PatternError) return { fault: error.message };
    throw error;
  }
}
