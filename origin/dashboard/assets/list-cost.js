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
    return {
      text: "No address was found. Choose another column or separator.",
      enough: false,
      startable: false,
      button: "Start",
    };
  }
  const one = addresses === 1;
  if (offline) {
    return {
      ...start,
      text: `${one ? "1 address is" : `${number(addresses)} different addresses are`} checked in this browser. It costs nothing, nothing is sent, and the column mx stays empty.`,
    };
  }
  const most = one
    ? "1 address costs 1 point"
    : `${number(addresses)} different addresses cost as many points`;
  if (!usage)
    return {
      ...start,
      enough: false,
      text: `${most}. How many your account has left could not be read.`,
    };
  const { left: remaining, overage, refill } = usage.points;
  if (remaining === null)
    return { ...start, text: `${most}. Your account has no limit.${time(addresses, usage)}` };
  if (addresses <= remaining)
    return {
      ...start,
      text: `${most}. Your account has ${number(remaining)} left.${time(addresses, usage)}`,
    };
  if (overage) {
    return {
      ...start,
      enough: false,
      text: `${most}. Your account has ${number(remaining)} left this month; up to ${number(addresses - remaining)} are overage.${time(addresses, usage)}`,
    };
  }
  const until = new Date(refill).toLocaleDateString("en", {
    timeZone: "UTC",
    day: "numeric",
    month: "long",
  });
  return {
    enough: false,
    startable: remaining > 0,
    button: `Check about ${number(remaining)}`,
    text: `${most}, but your account has ${number(remaining)} left until ${until}. When they are used up, checking stops with what is done.`,
  };
}

/**
 * @param {number} addresses
 * @param {Usage} usage
 */
function time(addresses, { points: { rate } }) {
  if (rate === null) return "";
  const seconds = (1.05 * addresses) / 64 / rate;
  return seconds < 60
    ? ""
    : ` At ${number(rate)} ${rate === 1 ? "request" : "requests"} a second it takes at least ${number(Math.ceil(seconds / 60))} minutes.`; // 2 or more
}
