/** An iterator that is opened when it is first asked for something, and from then on is the opened one. One that cannot be opened ends. */
export function deferred<T>(open: () => Promise<AsyncIterableIterator<T>>): AsyncIterableIterator<T> {
  let inner: AsyncIterableIterator<T> | undefined;
  let isOver = false;
  const first = async (): Promise<IteratorResult<T>> => {
    if (isOver) return { done: true, value: undefined };
    isOver = true;
    const opened = await open();
    inner = opened;
    return opened.next();
  };
  return {
    next: () => (inner ? inner.next() : first()),
    async return() {
      isOver = true;
      await inner?.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
