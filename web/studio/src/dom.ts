/** Elements by hand: a tag, its properties, its children. Names with a dash are attributes. */
type Child = Node | string | null | undefined | false;
type Properties = Record<string, unknown>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) {
      continue;
    }
    if (name.includes('-') || name === 'role' || name === 'for') {
      made.setAttribute(name, String(value));
    } else if (name.startsWith('on') && typeof value === 'function') {
      made.addEventListener(name.slice(2), value as EventListener);
    } else {
      (made as unknown as Properties)[name] = value;
    }
  }
  made.append(...children.filter((child): child is Node | string => !!child || child === ''));
  return made;
}

/** A button with words, or with a sign and the words for those who do not see it. What is read aloud holds what is seen: people say it to press it. */
export function button(label: string, onclick: () => void, sign?: string, properties: Properties = {}): HTMLButtonElement {
  const isWord = sign !== undefined && /\w{2}/.test(sign) && !label.toLowerCase().includes(sign.toLowerCase());
  return element(
    'button',
    { type: 'button', onclick, title: label, 'aria-label': isWord ? `${sign}: ${label}` : sign ? label : undefined, ...properties },
    sign ?? label,
  );
}

/** A select with its label. */
export function choice(
  label: string,
  options: readonly { value: string; text: string }[],
  value: string,
  onchange: (value: string) => void,
): HTMLLabelElement {
  const select = element(
    'select',
    { 'aria-label': label },
    ...options.map((option) => element('option', { value: option.value, selected: option.value === value }, option.text)),
  );
  select.addEventListener('change', () => onchange(select.value));
  return element('label', { className: 'choice' }, element('span', {}, label), select);
}

/** A switch with its label. */
export function toggle(label: string, checked: boolean, onchange: (on: boolean) => void): HTMLLabelElement {
  const box = element('input', { type: 'checkbox', checked });
  box.addEventListener('change', () => onchange(box.checked));
  return element('label', { className: 'toggle' }, box, element('span', {}, label));
}

/** A section of the side panel that can be folded. */
export function section(title: string, open: boolean, ...children: Child[]): HTMLDetailsElement {
  return element('details', { open, className: 'section' }, element('summary', {}, title), ...children);
}

/** Hand bytes to the user as a file. */
export function download(name: string, bytes: Uint8Array | Blob, type = 'application/octet-stream'): void {
  const blob = bytes instanceof Blob ? bytes : new Blob([bytes.slice()], { type });
  const address = URL.createObjectURL(blob);
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A small square of a colour. */
export function swatch(colour: string): HTMLElement {
  const box = element('span', { className: 'swatch' });
  box.style.background = colour;
  return box;
}
