/** A write that storage does not take. It has not happened, and no reader has seen it. */
export class StorageError extends Error {
  override readonly name: string = "StorageError";
}

/** An object larger than storage takes, in the words of the real server's. */
export class ObjectTooLargeError extends StorageError {
  override readonly name = "ObjectTooLargeError";
}

/** What etcd takes in one request, and what can be sent to it at all. */
const largestRequest = 1.5 * 1024 * 1024;
const largestMessage = 2 * 1024 * 1024;

/** @throws ObjectTooLargeError */
export function checkObjectSize(bytes: number): void {
  if (bytes > largestMessage) {
    throw new ObjectTooLargeError(
      `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes} vs. ${largestMessage})`,
    );
  }
  if (bytes > largestRequest) throw new ObjectTooLargeError("etcdserver: request is too large");
}
