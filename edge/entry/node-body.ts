import type { IncomingMessage } from "node:http";

/**
 * The body of a request, read only as it is asked for. Readable.toWeb would keep
 * thousands of pieces ahead of its reader, and would end the connection, without
 * an answer, when the rest is not needed.
 */
export function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  let needed = true;
  request.pause();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        request.on("data", (piece: Uint8Array) => {
          if (!needed) return; // read to the end all the same, for the next request on the connection
          request.pause();
          controller.enqueue(piece);
        });
        const end = (finish: () => void) => {
          if (needed) finish();
          needed = false;
        };
        request.once("end", () => end(() => controller.close()));
        request.on("error", (failure) => end(() => controller.error(failure))); // the caller broke off
      },
      pull() {
        request.resume();
      },
      cancel() {
        needed = false;
        request.resume();
      },
    },
    { highWaterMark: 0 },
  );
}
