/** What a list costs, before it is started. */

/**
 * The account's points and rate, as GET /dashboard/lists returns them; null is
 * unlimited.
 * @typedef {{ points: { used: number, limit: number | null, left: number | null, overage: boolean, refill: string,
 *   rate: number | null } }} Usage
 */

const number = (/** @type {number} */ n) => n.toLocaleString("en");

/**
 * @param {number} addresses to check, each of them once
 * @param {Usage | null} usage null if it could not be read
 * @param {boolean} offline
 * @returns {{ text: string, enough: boolean, startable: boolean, button: string }}
 */
export function costSentence(addresses, usage, offline) {
  const start = { enough: true, startable: true, button: "Start" };
  if (addresses === 0) {
    const text = "No address was found. Choose another column or separator.";
    return { ...start, text, enough: false, startable: false };
  }
  const one = addresses === 1;
  const what = one ? "1 address" : `${number(addresses)} different addresses`;
  if (offline) {
    const text = `${what} ${one ? "is" : "are"} checked in this browser. It costs nothing, nothing is sent, and the column mx stays empty.`;
    return { ...start, text };
  }
  const cost = `${what} ${one ? "costs 1 point" : "cost as many points"}`;
  if (!usage) {
    const text = `${cost}. How many your account has left could not be read.`;
    return { ...start, text, enough: false };
  }
  const { left, overage, refill, rate } = usage.points;
  const enough = left === null || addresses <= left;
  if (!enough && !overage) {
    const until = new Date(refill).toLocaleDateString("en", {
      ...{ timeZone: "UTC", day: "numeric", month: "long" },
    });
    const text = `${cost}, but your account has ${number(left)} left until ${until}. When they are used up, checking stops with what is done.`;
    return { enough, text, startable: left > 0, button: `Check about ${number(left)}` };
  }
  const has = left === null ? "no limit" : `${number(left)} left`;
  const over = enough ? "" : ` this month; up to ${number(addresses - left)} are overage`;
  const minutes = rate === null ? 0 : Math.ceil((1.05 * addresses) / 64 / rate / 60);
  const time = `At ${number(rate ?? 0)} ${rate === 1 ? "request" : "requests"} a second it takes at least ${number(minutes)} minutes.`;
  const text = `${cost}. Your account has ${has}${over}.${minutes > 1 ? ` ${time}` : ""}`;
  return { ...start, enough, text };
}
