/** Finds the encoding of a file and decodes it chunk by chunk. */

import { ListProblem } from "./list-problem.js";

/** @typedef {"utf-8" | "utf-16le" | "utf-16be" | "windows-1252"} Encoding */

/**
 * Returns the encoding that a byte order mark names (the Encoding standard,
 * section 6.1 "BOM sniff"); UTF-8 without one.
 * @param {Uint8Array} bytes the first bytes of the file
 * @returns {{ encoding: Encoding, mark: boolean }}
 */
export function detectEncoding(bytes) {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { encoding: "utf-8", mark: true };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le", mark: true };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be", mark: true };
  return { encoding: "utf-8", mark: false };
}

/**
 * Decodes a file. Before it throws a ListProblem it yields the text before the
 * offending byte, so that its reader knows the line.
 * @param {Blob} file
 * @param {Encoding} encoding
 * @returns {AsyncGenerator<{ text: string, read: number }>} read counts bytes
 */
export async function* textOf(file, encoding) {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let read = 0;
  for await (const bytes of chunksOf(file)) {
    read += bytes.length;
    const { text, problem } = decode(decoder, bytes, encoding);
    yield { text, read };
    if (problem) throw problem;
  }
  yield { text: finish(decoder), read };
}

/**
 * Reads a file in chunks. Not every browser can iterate a ReadableStream.
 * @param {Blob} file
 * @returns {AsyncGenerator<Uint8Array>}
 */
async function* chunksOf(file) {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

/**
 * @param {TextDecoder} decoder
 * @param {Uint8Array} bytes
 * @param {Encoding} encoding
 * @returns {{ text: string, problem?: ListProblem }}
 */
function decode(decoder, bytes, encoding) {
  let text;
  try {
    text = decoder.decode(bytes, { stream: true });
  } catch {
    return { text: readablePart(bytes, encoding), problem: notInEncoding(encoding) };
  }
  const nul = text.indexOf("\0");
  return nul < 0 ? { text } : { text: text.slice(0, nul), problem: binary() };
}

/** @param {TextDecoder} decoder */
function finish(decoder) {
  try {
    return decoder.decode();
  } catch {
    throw new ListProblem("encoding", "The file ends within a character. Was it cut off?");
  }
}

/**
 * Returns the text before the first byte that cannot be decoded. The first three
 * bytes may continue a character of the chunk before.
 * @param {Uint8Array} bytes
 * @param {Encoding} encoding
 */
function readablePart(bytes, encoding) {
  const text = new TextDecoder(encoding).decode(bytes);
  const bad = text.indexOf("\ufffd", text.search(/[^\ufffd]|$/u));
  return bad < 0 ? "" : text.slice(0, bad);
}

/** @param {Encoding} encoding */
function notInEncoding(encoding) {
  return encoding === "utf-8"
    ? new ListProblem(
        "encoding",
        "The file is not in UTF-8. If it comes from an older Windows program, read it as Windows-1252; otherwise save it as UTF-8.",
      )
    : new ListProblem(
        "encoding",
        `The file is not in ${encoding.toUpperCase()}, although its first bytes say so. Save it as UTF-8.`,
      );
}

function binary() {
  return new ListProblem(
    "binary",
    "A NUL byte: this is not a text file. A spreadsheet must be saved as CSV first.",
  );
}
