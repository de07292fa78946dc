/** The contents of a page of the documentation: they mark the section that is read. */

/**
 * @param {HTMLDetailsElement} contents always open beside the page, else only while they are used
 */
export function followContents(contents) {
  const beside = matchMedia("(min-width: 75rem)"); // as in site.css
  const nav = /** @type {HTMLElement} */ (contents.querySelector("nav"));
  const sections = [...nav.querySelectorAll("a")].flatMap((link) => {
    const heading = document.getElementById(link.hash.slice(1));
    return heading ? [{ link, heading }] : [];
  });
  let atEnd = false;

  function mark() {
    const current = sectionRead(sections, atEnd && scrollY > 0);
    for (const section of sections) {
      if (section === current) section.link.setAttribute("aria-current", "location");
      else section.link.removeAttribute("aria-current");
    }
    if (current) keepInView(nav, current.link);
  }

  // A heading that crosses the line of sectionRead, in either direction.
  const line = new IntersectionObserver(mark, { rootMargin: `-${LINE}px 0px 0px` });
  for (const { heading } of sections) line.observe(heading);
  // The last sections may be too short to reach the line.
  const end = new IntersectionObserver(
    ([seen]) => {
      atEnd = (seen?.intersectionRatio ?? 0) >= 0.9;
      mark();
    },
    { threshold: 0.9 },
  );
  const footer = document.querySelector("body > footer");
  if (footer) end.observe(footer);
  addEventListener("hashchange", mark);

  const fit = () => {
    contents.open = beside.matches;
  };
  fit();
  contents.dataset.followed = "";
  beside.addEventListener("change", fit);
  contents.addEventListener("toggle", mark);
  contents.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a")) fit();
  });
  contents.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || beside.matches) return;
    contents.open = false;
    contents.querySelector("summary")?.focus();
  });
}

/** @typedef {{ link: HTMLAnchorElement, heading: HTMLElement }} Section */

/** Pixels from the top of the window: a heading that a link led to is above this line, the next one below. */
const LINE = 96;

/**
 * The section that is read. At the end of the page that is the target of the link that led there,
 * or else the last one.
 * @param {Section[]} sections
 * @param {boolean} atEnd
 */
function sectionRead(sections, atEnd) {
  if (atEnd) return sections.find(({ heading }) => heading.matches(":target")) ?? sections.at(-1);
  return sections.findLast(({ heading }) => heading.getBoundingClientRect().top <= LINE);
}

/** Scrolls a list to a link in it, and nothing else. @param {HTMLElement} list @param {HTMLElement} link */
function keepInView(list, link) {
  const above = link.offsetTop < list.scrollTop;
  const below = link.offsetTop + link.offsetHeight > list.scrollTop + list.clientHeight;
  if (above || below) list.scrollTop = link.offsetTop - list.clientHeight / 2;
}
