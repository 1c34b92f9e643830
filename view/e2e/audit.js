// What readers with other eyes and hands need of a page. Each check returns what is wrong with it, by selector; it is evaluated in the page.
(() => {
  const controls = "a[href], button, input, select, textarea, summary, [tabindex]";

  /** path names an element. */
  const path = (e) => {
    if (e.id) return `#${e.id}`;
    const own = e.tagName.toLowerCase() + [...e.classList].map((c) => `.${c}`).join("");
    if (!e.parentElement || e === document.body) return own;
    const like = [...e.parentElement.children].filter((x) => x.tagName === e.tagName);
    return `${path(e.parentElement)} > ${own}${like.length > 1 ? `:nth-of-type(${like.indexOf(e) + 1})` : ""}`;
  };

  const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && e.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const open = () => document.querySelector("dialog[open]"); // all else is out of reach
  const reachable = () => all(controls).filter((e) => e.tabIndex >= 0 && !e.matches(":disabled") && (!open() || open().contains(e)));

  // Colours.

  const spot = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    spot.clearRect(0, 0, 1, 1);
    spot.fillStyle = colour;
    spot.fillRect(0, 0, 1, 1);
    return [...spot.getImageData(0, 0, 1, 1).data];
  };
  const blend = ([r, g, b, a], below) => [r, g, b].map((v, i) => (v * a + below[i] * (255 - a)) / 255).concat(255);
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };

  /** grounds returns what may lie behind the content of an element: what floats over pictures may have black or white below it. */
  const grounds = (e) => {
    if (!e) return [[255, 255, 255, 255]];
    const style = getComputedStyle(e), own = read(style.backgroundColor);
    if (own[3] === 255) return [own];
    const floats = own[3] > 0 && style.position === "absolute";
    return (floats ? [[0, 0, 0, 255], [255, 255, 255, 255]] : grounds(e.parentElement)).map((g) => blend(own, g));
  };
  const least = (colour, list) => Math.min(...list.map((g) => ratio(blend(colour, g), g)));

  /** text holds that text is readable. */
  const text = () => {
    const wrong = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = all("select, input:not([type=range]), textarea");
    while (walk.nextNode()) if (walk.currentNode.data.trim()) found.push(walk.currentNode.parentElement);
    for (const e of found) {
      if (!seen(e) || e.closest(":disabled, script, option")) continue;
      const style = getComputedStyle(e), size = parseFloat(style.fontSize);
      const want = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700) ? 3 : 4.5, got = least(read(e instanceof SVGElement ? style.fill : style.color), grounds(e));
      if (got < want) wrong.add(`${path(e)} has a contrast of ${got.toFixed(2)}, want ${want}`);
    }
    return [...wrong];
  };

  /** shapes holds that fields, the strip and swatches stand out from what is around them. */
  const shapes = () => {
    const wrong = [], check = (e, what, colour) => {
      const got = least(colour, grounds(e.parentElement));
      if (got < 3) wrong.push(`${what} of ${path(e)} has a contrast of ${got.toFixed(2)}, want 3`);
    };
    for (const e of all("select, input:not([type=range]), textarea")) {
      if (!e.matches(":disabled")) check(e, "the border", read(getComputedStyle(e).borderTopColor));
    }
    for (const e of all("#legend i, figcaption i")) check(e, "the border", read(getComputedStyle(e).borderTopColor));
    const strip = document.getElementById("strip");
    if (strip && seen(strip) && strip.width && strip.height) {
      const copy = new OffscreenCanvas(strip.width, strip.height).getContext("2d", { willReadFrequently: true }), count = new Map();
      copy.drawImage(strip, 0, 0);
      const { data } = copy.getImageData(0, 0, strip.width, strip.height);
      for (let i = 0; i < data.length; i += 4) {
        const key = data.slice(i, i + 4).join();
        if (data[i + 3] === 255) count.set(key, (count.get(key) ?? 0) + 1);
      }
      for (const [key, n] of count) if (n > 20) check(strip, `the colour ${key}`, key.split(",").map(Number));
    }
    return wrong;
  };

  /** structure holds what a document needs: a language, a title, one h1, one main, levels of headings in turn, ids that are unique. */
  const structure = () => {
    const wrong = [], ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    if (!document.documentElement.lang) wrong.push("the document has no language");
    if (!document.title.trim()) wrong.push("the document has no title");
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push(`there are several #${id}`);
    for (const name of ["h1", "main"]) if (all(name).length !== 1) wrong.push(`there are ${all(name).length} ${name}, want 1`);
    let level = 0;
    for (const h of all("h1, h2, h3, h4, h5, h6")) {
      if (+h.tagName[1] > level + 1) wrong.push(`${path(h)} follows a heading of level ${level}`);
      level = +h.tagName[1];
    }
    for (const e of all("input, select, textarea")) if (!e.labels.length && !e.ariaLabel) wrong.push(`${path(e)} has no label`);
    for (const e of all("canvas, img, svg")) {
      if (!e.closest("[aria-hidden=true]") && !e.ariaLabel && e.getAttribute("alt") === null) wrong.push(`${path(e)} has no name`);
    }
    return wrong;
  };

  /** targets holds that what is to be hit is 24 pixels wide and high, or that far from all others. */
  const targets = () => {
    const list = [...new Set([...all(controls), ...all("#strip, #charts canvas, #trace canvas")])].filter((e) => !e.matches(":disabled") && (!open() || open().contains(e)));
    const box = new Map(list.map((e) => [e, e.getBoundingClientRect()]));
    const near = (a, b) => { // the circle around a touches b
      const [x, y] = [a.left + a.width / 2, a.top + a.height / 2];
      return Math.hypot(Math.max(b.left - x, 0, x - b.right), Math.max(b.top - y, 0, y - b.bottom)) < 12;
    };
    return list.filter((e) => {
      const r = box.get(e);
      return (r.width < 24 || r.height < 24) && list.some((o) => o !== e && !o.contains(e) && !e.contains(o) && near(r, box.get(o)));
    }).map((e) => `${path(e)} is ${box.get(e).width.toFixed(0)}×${box.get(e).height.toFixed(0)} and close to others`);
  };

  /** room holds that nothing is wider than the page, and no text is cut off. Regions that keys scroll and that have a name, of tables and of large
   * pictures, may be wider: that is where WCAG 1.4.10 makes an exception. */
  const room = () => {
    const wrong = [];
    for (const e of all("html, body, body *")) {
      const style = getComputedStyle(e), clipped = style.overflowX !== "visible" || e === document.documentElement;
      if (!clipped || e.matches("select, input, textarea, canvas, [role=region][tabindex='0'][aria-label]") || e.scrollWidth <= e.clientWidth + 1) continue;
      wrong.push(`${path(e)} is ${e.scrollWidth - e.clientWidth} pixels wider than there is room`);
    }
    return wrong;
  };

  // The keyboard.

  const look = (e) => {
    const s = getComputedStyle(e), own = [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderColor].join();
    const after = e.parentElement && getComputedStyle(e.parentElement, "::after");
    return own + (after ? after.content + after.borderTopWidth + after.borderTopColor : "");
  };
  const before = new Map();

  /** begin goes to the top of the page, and returns what Tab should reach, in turn. */
  const begin = () => {
    document.activeElement?.blur();
    const top = open() ?? document.body;
    top.tabIndex = -1;
    top.focus(); // Tab goes on from here
    top.removeAttribute("tabindex");
    const list = reachable();
    for (const e of list) before.set(e, look(e));
    return list.map(path);
  };

  /** at says where the focus is, and what is wrong with how it is shown. */
  const at = () => {
    const e = document.activeElement, wrong = [];
    if (!e || e === document.body || e === document.documentElement) return { at: "", wrong };
    const r = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (before.has(e) && look(e) === before.get(e)) wrong.push(`${path(e)} does not show that it has the focus`);
    if (style.outlineStyle !== "none" && style.outlineStyle !== "auto" && least(read(style.outlineColor), grounds(e.parentElement)) < 3) wrong.push(`the focus of ${path(e)} is hard to see`);
    const [left, right] = [Math.max(r.left, 0), Math.min(r.right, innerWidth)], [top, bottom] = [Math.max(r.top, 0), Math.min(r.bottom, innerHeight)];
    const top_ = left < right && top < bottom ? document.elementFromPoint((left + right) / 2, (top + bottom) / 2) : null;
    if (!top_ || !(e.contains(top_) || top_.contains(e) || top_.closest("label")?.control === e)) wrong.push(`${path(e)} has the focus where nobody can see it`);
    return { at: before.has(e) ? path(e) : "", other: before.has(e) ? "" : path(e), wrong };
  };

  window.audit = { text, shapes, structure, targets, room, begin, at };
})();
