import type { IncomingMessage } from "node:http";

/**
 * Returns the body of a request, which is read only on demand. Readable.toWeb
 * would buffer thousands of chunks, and would close the connection without an
 * response when the rest is not needed.
 */
export function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  let needed = true;
  request.pause();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        request.on("data", (chunk: Uint8Array) => {
          if (!needed) return; // still read to the end, for the connection's next request
          request.pause();
          controller.enqueue(chunk);
        });
        const end = (finish: () => void) => {
          if (needed) finish();
          needed = false;
        };
        request.once("end", () => end(() => controller.close()));
        // An error means that the client aborted the body.
        request.on("error", (error) => end(() => controller.error(error)));
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
