/** When goals act on a motion: from, to, and how long they come and go. Then the motion can be baked. */
import type { App } from './app.js';
import { button, element, toggle } from './dom.js';
import type { Session } from './session.js';
import type { Range } from './stage.js';

const SOFT = 0.25; // seconds of a fade, at first

const fields: readonly (readonly [keyof Range, string])[] = [
  ['from', 'from'],
  ['to', 'to'],
  ['fadeIn', 'fade in'],
  ['fadeOut', 'fade out'],
];

export class GoalRange {
  constructor(readonly app: App) {}

  make(session: Session): HTMLElement {
    const { app } = this;
    return element(
      'div',
      { className: 'range', role: 'group', 'aria-label': 'When the goals act' },
      toggle('Only for a part of the motion', !!session.range, (on) => {
        const { duration, time } = session;
        session.range = on ? { from: Math.max(0, time - 0.5), to: Math.min(duration, time + 0.5), fadeIn: SOFT, fadeOut: SOFT } : null;
        session.changed();
        app.commit();
      }),
      session.range && element('div', { className: 'fields' }, ...fields.map(([key, label]) => this.#field(session, session.range!, key, label))),
      element(
        'div',
        { className: 'row' },
        session.baked
          ? button('Take the baked goals out of the motion again', () => app.takeAlong.unbake(), 'Undo baking')
          : button('Make the goals part of the motion', () => void app.takeAlong.bake(), 'Bake into the motion'),
      ),
    );
  }

  #field(session: Session, range: Range, key: keyof Range, label: string): HTMLElement {
    const input = element('input', { type: 'number', step: '0.05', min: '0', value: String(+range[key].toFixed(3)), 'aria-label': `Goals: ${label}, seconds` });
    input.addEventListener('change', () => {
      range[key] = Math.max(0, Number(input.value) || 0);
      range.to = Math.min(session.duration, Math.max(range.from, range.to));
      session.changed();
      this.app.commit();
    });
    return element('label', {}, element('span', {}, label), input, element('span', {}, 's'));
  }
}
