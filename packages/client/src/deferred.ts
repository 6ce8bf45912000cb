/**
 * An iterator that is opened when it is first asked for something, and from then on is the opened
 * one. One that cannot be opened ends.
 */
export function deferred<T>(open: () => Promise<AsyncIterableIterator<T>>): AsyncIterableIterator<T> {
  let inner: AsyncIterableIterator<T> | undefined;
  let isOpening = false;
  let isLeft = false;
  const over: IteratorResult<T> = { done: true, value: undefined };
  const first = async (): Promise<IteratorResult<T>> => {
    if (isOpening || isLeft) return over;
    isOpening = true;
    const opened = await open();
    inner = opened;
    if (!isLeft) return opened.next();
    await opened.return?.();
    return over;
  };
  return {
    next: () => (inner ? inner.next() : first()),
    async return() {
      isLeft = true;
      await inner?.return?.();
      return over;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
