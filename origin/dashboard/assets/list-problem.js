/** Why a list cannot be read or checked, in a sentence for the page. */

export class ListProblem extends Error {
  /**
   * @param {string} code what kind of problem it is, such as "encoding"
   * @param {string} sentence what is wrong and what to do
   * @param {number} [line] the line of the file, from 1
   */
  constructor(code, sentence, line) {
    super(sentence);
    this.code = code;
    this.line = line;
  }

  /** The sentence with the line, if it is known. */
  get text() {
    return this.line ? `Line ${this.line.toLocaleString("en")}: ${this.message}` : this.message;
  }
}
