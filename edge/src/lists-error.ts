/**
 * Thrown when lists, their signature or the key are not accepted, or cannot be
 * fetched. The message is a sentence for people, without a URL.
 */
export class ListsError extends Error {
  override readonly name = "ListsError";
}
