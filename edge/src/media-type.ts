const JSON_TYPE = /^application\/json *(?:; *charset=utf-8 *)?$/i;

/** Reports whether a Content-Type is JSON in a usual form; other forms may be JSON too. */
export function isJSON(contentType: string | null): boolean {
  return contentType !== null && JSON_TYPE.test(contentType);
}
